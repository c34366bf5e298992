#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/support/cub.hpp"

namespace heddle::bench::cliffs {
namespace {

/// The elements are random, all equal, or of few values.
enum class data { random, equal, few };
constexpr std::string_view names[] = {"random", "equal", "few values of"};

struct problem {
    std::int64_t size = 1, bins = 256;
    data of = data::random;
    placement x;
    std::uint64_t seed = 0;
};

/// Some floats lie outside of [-1, 1).
template <class T>
numbers elements(data of) {
    if constexpr (sizeof(T) == 1)
        return of == data::equal ? numbers{77, 77, 0} : numbers{0, 255, of == data::few ? 51.0 : 0.0};
    else
        return of == data::equal ? numbers{0.3, 0.3, 0}
                                 : numbers{-1.25, 1.25, of == data::few ? 0.3125 : 0.0};
}

template <class T>
struct operands {
    operand<T> x;
    device_buffer<std::int64_t> counts;

    explicit operands(const problem& p)
        : x(1, p.size, p.x, p.seed, elements<T>(p.of)), counts(p.bins, stream()) {}
};

template <class T>
trial prepare(const problem& p) {
    const auto o = std::make_shared<operands<T>>(p);
    trial t;
    t.reset = [o] { fill_bytes(o->counts, std::byte{0xff}, stream()); };
    t.call = [o] {
        if constexpr (sizeof(T) == 1)
            histogram(o->x.vector(), o->counts, stream());
        else
            histogram(o->x.vector(), -1, 1, o->counts, stream());
    };
    if (p.x.step == 1)
        t.add_peer(
            "cub",
            [&] {
                const auto counts = std::make_shared<device_buffer<std::int32_t>>(p.bins, stream());
                const auto scratch = std::make_shared<workspace>(cub_histogram_scratch_bytes, stream());
                return [p, o, counts, scratch] {
                    cub_histogram(o->x.data(), static_cast<std::int32_t>(p.size), counts->data(),
                                  static_cast<std::int32_t>(p.bins), *scratch);
                };
            },
            false);  // it counts in 32 bits

    looked_at_bins bins;
    for (std::size_t i = 0; i < std::size(bins.number); ++i)
        bins.number[i] = static_cast<std::int64_t>(i) * (p.bins - 1) /
                         static_cast<std::int64_t>(std::size(bins.number) - 1);
    const double lower = sizeof(T) == 1 ? 0 : -1, upper = sizeof(T) == 1 ? 256 : 1;
    const bin_facts facts = count_bins<T>(o->x.vector(), lower, upper, p.bins, bins);
    t.wrong = [o, bins, facts](double) -> std::string {
        std::vector<std::int64_t> counts(o->counts.size());
        copy_and_wait(o->counts, counts, stream());
        for (std::size_t i = 0; i < std::size(bins.number); ++i) {
            const std::int64_t count = counts[static_cast<std::size_t>(bins.number[i])];
            if (count < facts.sure[i] || count > facts.possible[i])
                return fmt::format("bin {} has {} elements, not {} to {}", bins.number[i], count,
                                   facts.sure[i], facts.possible[i]);
        }
        const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
        if (all == facts.inside) return {};
        return fmt::format("all bins have {} elements, not {}", all, facts.inside);
    };
    return t;
}

template <class T>
drawn_case draw(drawing& d) {
    problem p;
    p.x = d.vector_lie();
    p.of = d.one_in(2) ? data::random : static_cast<data>(d.integer(1, 2));
    constexpr std::int64_t most_bins = 1 << 17;
    if (sizeof(T) > 1) p.bins = d.extent(1, most_bins, static_cast<extent_kind>(d.index(3)));
    p.seed = d.bits();
    const auto bytes_of = [p](std::int64_t elements) {
        return static_cast<double>(elements) * sizeof(T) + static_cast<double>(p.bins) * 8;
    };
    drawn_case c = draw_case_of(d, 1, [&](extents_view e) { return bytes_of(span_of(p.x, 1, e[0])); });
    p.size = c.extents.front();
    c.bytes = bytes_of(p.size);
    c.words = fmt::format("histogram of {} {} {} in {} bins{}", p.size, names[static_cast<int>(p.of)],
                          dtype<T>, p.bins, to_string(p.x));
    c.prepare = [p] { return prepare<T>(p); };
    return c;
}

}  // namespace

drawn_case draw_histogram(drawing& d) {
    return with_type<std::uint8_t, float>(d.type(2), [&]<class T>() { return draw<T>(d); });
}

}  // namespace heddle::bench::cliffs
