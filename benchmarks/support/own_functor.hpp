#pragma once

#include <heddle/view.hpp>

namespace heddle::bench {

/// GELU as a user's functor through heddle::transform, on stream(). T is float or half.
template <class T>
void own_gelu(vector_view<const T> x, vector_view<T> y);

}  // namespace heddle::bench
