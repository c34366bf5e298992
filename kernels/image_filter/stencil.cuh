#pragma once

#include "kernels/image_filter/launch.hpp"

namespace heddle::kernels::image_filter {

/// The square root of a number >= 0 to within an ulp, by a Newton step from the approximate root. sqrtf() would call a function
/// for denormal arguments, which costs registers.
__device__ inline float square_root(float square) {
    const float reciprocal = rsqrtf(square);
    const float root = square * reciprocal;
    const float closer = fmaf(fmaf(-root, root, square), 0.5f * reciprocal, root);
    return square > 0 && reciprocal > 0 ? closer : square;  // 0, infinity and NaN are their own roots
}

/// Filters of 3 x 3 pixels in two steps. along_x() combines a pixel with its left and right neighbours, and along_y() combines
/// the results of three rows. Weights of zero are left out, so that NaN and infinities only reach results in which they have a
/// weight.
struct sobel_x {
    using partial = float;
    __device__ static float along_x(float left, float, float right) { return right - left; }
    __device__ static float along_y(float above, float here, float below) {
        return fmaf(2, here, above + below);
    }
};

struct sobel_y {
    using partial = float;
    __device__ static float along_x(float left, float here, float right) {
        return fmaf(2, here, left + right);
    }
    __device__ static float along_y(float above, float, float below) { return below - above; }
};

struct sobel_magnitude {
    struct partial {
        float x;
        float y;
    };
    __device__ static partial along_x(float left, float here, float right) {
        return {sobel_x::along_x(left, here, right), sobel_y::along_x(left, here, right)};
    }
    __device__ static float along_y(partial above, partial here, partial below) {
        const float x = sobel_x::along_y(above.x, here.x, below.x);
        const float y = sobel_y::along_y(above.y, here.y, below.y);
        return square_root(fmaf(x, x, y * y));
    }
};

struct laplacian {
    struct partial {
        float centre;
        float row;
    };
    __device__ static partial along_x(float left, float here, float right) {
        return {here, fmaf(-4, here, left + right)};
    }
    __device__ static float along_y(partial above, partial here, partial below) {
        return here.row + (above.centre + below.centre);
    }
};

/// Calls function(filter) with the filter of the stencil.
template <class Function>
void with_filter(stencil which, Function function) {
    switch (which) {
        case stencil::sobel_x:
            return function(sobel_x{});
        case stencil::sobel_y:
            return function(sobel_y{});
        case stencil::sobel_magnitude:
            return function(sobel_magnitude{});
        case stencil::laplacian:
            return function(laplacian{});
    }
}

}  // namespace heddle::kernels::image_filter
