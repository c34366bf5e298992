#include "kernels/conv/plan/mma_sync.hpp"

#include "kernels/conv/plan/copied_tiles.hpp"

#include <cstddef>

namespace heddle::kernels::conv {

plan plan_mma_sync(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    return copied_tiles<mma_packet_kernels>(p, device, kernel);
}
plan plan_mma_sync_words(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    return copied_tiles<mma_word_kernels>(p, device, kernel);
}
plan plan_mma_sync_elements(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    return copied_tiles<mma_element_kernels>(p, device, kernel);
}
plan plan_register_words(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    return copied_tiles<register_word_kernels>(p, device, kernel);
}
plan plan_register_fours(const conv_problem& p, const device_traits& device, std::size_t kernel) {
    return copied_tiles<register_four_kernels>(p, device, kernel);
}

}  // namespace heddle::kernels::conv
