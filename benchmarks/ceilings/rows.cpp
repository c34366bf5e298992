#include "benchmarks/ceilings/kernels.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/support/kernels.hpp"
#include "benchmarks/support/random.hpp"

namespace heddle::bench {
namespace {

using seconds = std::chrono::duration<double>;

constexpr temperature temperatures[] = {temperature::cold, temperature::hot};

/// Long enough back to back that the clocks settle at the power that lasts.
constexpr seconds sustained{300e-3};

/// What a call touches, closest where caches end. Those of a row lie between two of them.
constexpr std::int64_t footprints[] = {
    1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 3 << 22, 1 << 24,
    3 << 23, 1 << 25, 3 << 24, 1 << 26, 3 << 25, 1 << 27, 3 << 26, 1 << 28, 1 << 30, std::int64_t{1} << 32,
};

/// `of` says how many of something a device does in a call. Without a device there is nothing to count.
template <class Count>
double on_this_device(Count of) {
    return has_device() ? of(traits_of(current_device())) : 0;
}

/// The names of accesses.
constexpr std::string_view names[] = {"dram_read", "dram_write", "dram_copy"};

/// The fastest of all variants. `call_by` gives the call of one.
template <class CallBy>
access_variant fastest(temperature temperature, CallBy call_by) {
    constexpr seconds trial{2e-3};
    access_variant best;
    double least = std::numeric_limits<double>::infinity();
    const auto try_one = [&](const access_variant& variant) {
        auto call = call_by(variant);
        const double time = detail::time_on_device(std::ref(call), temperature, trial).seconds;
        if (time < least) {
            least = time;
            best = variant;
        }
    };
    for (const access_variant& variant : access_variants(traits_of(current_device()))) try_one(variant);
    if (temperature == temperature::hot) {
        access_variant turning = best;
        turning.turns = true;
        try_one(turning);
    }
    return best;
}

void memory_row(access access, std::int64_t footprint, temperature temperature) {
    const std::int64_t moved = access == access::copy ? footprint / 2 : footprint;
    const std::int64_t read = access == access::write ? 0 : moved, written = footprint - read;
    const problem problem{fmt::format("ceiling/{}/{}", names[static_cast<int>(access)], footprint),
                          static_cast<double>(read), static_cast<double>(written)};
    const auto found = std::make_shared<std::optional<access_variant>>();  // by the first repetition
    device_row(problem, "heddle", temperature, [=] {
        constexpr auto word = static_cast<std::int64_t>(sizeof(std::int64_t));
        constexpr std::int64_t sink = 2;
        auto from = random_on_device<std::int64_t>(read / word);
        device_buffer<std::int64_t> to(written > 0 ? written / word : sink, stream());
        const auto call_by = [access, moved, source = from.data(),
                              destination = to.data()](const access_variant& variant) {
            return [=, backwards = false]() mutable {
                access_memory(access, variant, reinterpret_cast<const std::byte*>(source),
                              reinterpret_cast<std::byte*>(destination), moved, backwards, stream());
                backwards = variant.turns && !backwards;
            };
        };
        if (!*found) *found = fastest(temperature, call_by);
        return [from = std::move(from), to = std::move(to), call = call_by(**found)]() mutable { call(); };
    });
}

/// A burst, and calls back to back. `call` takes a place for a T, which it need not write.
template <class T, class Call>
void burst_and_sustained(const problem& problem, Call call) {
    const auto prepare = [call] {
        return [call, sink = device_buffer<T>(1, stream())]() mutable { call(sink.data()); };
    };
    device_row(problem, "heddle", temperature::cold, prepare);
    device_row(problem, "heddle", temperature::hot, prepare, sustained);
}

/// Compute capability 9.0 has wgmma, 10 and 11 instructions of their own, by which alone their tensor cores reach their rate.
bool has_wgmma(const device_traits& device) {
    return device.compute_capability_major == 9;
}
bool has_full_rate_by_mma(const device_traits& device) {
    return device.compute_capability_major == 8 || device.compute_capability_major == 12;
}

void tensor_rows(unit unit, tensor_type type) {
    const auto operations = [type](const device_traits& device) {
        return has_wgmma(device) ? wgmma_operations(type, device) : mma_operations(type, device);
    };
    burst_and_sustained<float>({.name = fmt::format("ceiling/{}", to_string(unit)),
                                .operations = on_this_device(operations),
                                .unit = unit},
                               [type](float* sink) {
                                   const device_traits& device = traits_of(current_device());
                                   if (has_wgmma(device))
                                       wgmma_products(type, sink, stream());
                                   else if (has_full_rate_by_mma(device))
                                       mma_products(type, sink, stream());
                                   else
                                       throw unsupported("no kernel here reaches this device's tensor cores");
                               });
}

/// An empty kernel after the other. The device is held busy until all of them are enqueued: no host time is in it.
detail::measurement time_of_launches() {
    constexpr int launches = 400;
    constexpr std::chrono::milliseconds enqueue_time{4};
    event start, stop;
    launch_nothing(stream());  // loads the kernel
    spin(enqueue_time, stream());
    start.record(stream());
    for (int i = 0; i < launches; ++i) launch_nothing(stream());
    stop.record(stream());
    stop.synchronize();
    return {seconds(elapsed(start, stop)).count() / launches, launches};
}

/// A copy between two buffers, which each repetition makes anew.
void copy_row(const problem& problem, std::string_view library, auto make_source, auto make_destination) {
    device_row(problem, library, temperature::cold, [=] {
        return [source = make_source(), destination = make_destination()]() mutable {
            copy(source, destination, stream());
        };
    });
}

/// Between pinned memory and the device's, where only what passes between them is counted. The copy within the device is no
/// ceiling: rows of the headline that have no peer stand beside it.
void copy_rows() {
    const auto pinned = [](std::int64_t bytes) {
        return [bytes] { return pinned_buffer<std::uint8_t>(bytes); };
    };
    const auto random = [](std::int64_t bytes) {
        return [bytes] { return random_on_device<std::uint8_t>(bytes); };
    };
    const auto on_device = [](std::int64_t bytes) {
        return [bytes] { return device_buffer<std::uint8_t>(bytes, stream()); };
    };
    for (const std::int64_t bytes : {1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28}) {
        const auto moved = static_cast<double>(bytes);
        copy_row({fmt::format("ceiling/pinned_to_device/{}", bytes), 0, moved}, "heddle", pinned(bytes),
                 on_device(bytes));
        copy_row({fmt::format("ceiling/pinned_to_host/{}", bytes), moved, 0}, "heddle", random(bytes),
                 pinned(bytes));
    }
    constexpr std::int64_t large = std::int64_t{1} << 30;
    copy_row({fmt::format("copy/u8/{}", large), large, large}, "cuda", random(large), on_device(large));
}

}  // namespace

void register_ceiling() {
    for (const auto temperature : temperatures)
        for (const auto access : {access::copy, access::read, access::write})
            for (const std::int64_t footprint : footprints) memory_row(access, footprint, temperature);

    burst_and_sustained<unsigned>(
        {.name = "ceiling/shared_memory", .bytes_read = on_this_device(shared_memory_bytes)},
        [](unsigned* sink) { read_shared_memory(sink, stream()); });
    burst_and_sustained<float>(
        {.name = "ceiling/ffma", .operations = on_this_device(fma_operations<float>), .unit = unit::ffma},
        [](float* sink) { fma_chains(sink, stream()); });
    burst_and_sustained<double>(
        {.name = "ceiling/fp64", .operations = on_this_device(fma_operations<double>), .unit = unit::fp64},
        [](double* sink) { fma_chains(sink, stream()); });
    tensor_rows(unit::tensor_tf32, tensor_type::tf32);
    tensor_rows(unit::tensor_f16, tensor_type::f16);
    tensor_rows(unit::tensor_bf16, tensor_type::bf16);

    detail::add_row({"ceiling/launch"}, "heddle", temperature::cold, true, time_of_launches);
    copy_rows();
}

}  // namespace heddle::bench
