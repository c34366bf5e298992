#pragma once

/// Sums of 32 bits as bytes, for the rungs that multiply bytes along both axes.
namespace heddle::kernels::separable_filter {

/// The bytes of four sums but for the lowest: a has the uppermost of each.
struct upper_bytes {
    unsigned a;
    unsigned b;
    unsigned c;
};
__device__ inline upper_bytes upper_bytes_of(unsigned s0, unsigned s1, unsigned s2, unsigned s3) {
    const unsigned upper = __byte_perm(s0, s1, 0x7362);
    const unsigned lower = __byte_perm(s2, s3, 0x7362);
    return {__byte_perm(upper, lower, 0x7632), __byte_perm(upper, lower, 0x5410),
            __byte_perm(__byte_perm(s0, s1, 0x0051), __byte_perm(s2, s3, 0x0051), 0x5410)};
}
/// Half of the lowest byte's range: added to a sum, it rounds the others.
inline constexpr unsigned half_of_lowest_byte = 1u << 7;

/// The uppermost byte of each, the first one's lowest.
__device__ inline unsigned uppermost_bytes(unsigned s0, unsigned s1, unsigned s2, unsigned s3) {
    return __byte_perm(__byte_perm(s0, s1, 0x0073), __byte_perm(s2, s3, 0x0073), 0x5410);
}

}  // namespace heddle::kernels::separable_filter
