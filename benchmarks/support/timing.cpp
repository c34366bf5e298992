#include "benchmarks/support/timing.hpp"

#include "benchmarks/support/kernels.hpp"

namespace heddle::bench {

void flush_l2() {
    static const device_buffer<std::byte> zeros = [] {
        device_buffer<std::byte> scratch(4 * static_cast<std::int64_t>(traits_of(current_device()).l2_bytes),
                                         stream());
        fill_zero(scratch, stream());
        return scratch;
    }();
    read(zeros.data(), static_cast<std::int64_t>(zeros.size()), stream());
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace heddle::bench
