#include "benchmarks/cliffs/family.hpp"
#include "benchmarks/cliffs/matmul_operands.hpp"
#include "benchmarks/cliffs/vendor_functions.hpp"
#include "benchmarks/support/cublas_lt.hpp"

namespace heddle::bench::cliffs {

#if HEDDLE_HAS_CUBLAS

namespace {

constexpr std::size_t shown_candidates = 2;
constexpr lt_search search{.candidates = 8, .calls = 5, .long_call_ms = 1};

template <class Out, class In>
void dot(const vendor_product<Out, In>& p) {
    const scalars_on_device mode;
    check(cublasDotEx_64(cublas_handle(), p.a.cols, p.a.data, cuda_type<In>, p.a.col_stride, p.b.data,
                         cuda_type<In>, p.b.row_stride, p.c.data, cuda_type<Out>, CUDA_R_32F));
}

template <class Out, class In>
vendor_product<Out, In> turned(vendor_product<Out, In> p) {
    std::swap(p.a, p.b);
    std::swap(p.a_stride, p.b_stride);
    p.a = transposed(p.a);
    p.b = transposed(p.b);
    p.c = transposed(p.c);
    p.residual = transposed(p.residual);
    return p;
}

}  // namespace

template <class Out, class In>
void add_vendor_products(trial& t, vendor_product<Out, In> p, const std::function<void()>& then,
                         const std::string& what, bool is_checked) {
    const auto add = [&](const std::string& name, auto call) {
        t.add_peer(
            name + what,
            [&] {
                return [call, then] {
                    call();
                    if (then) then();
                };
            },
            is_checked);
    };
    if (!is_row_major(p.c)) {
        p = turned(p);
        p.row_bias = nullptr;  // it would be one of columns
    }
    if (!p.has_epilogue()) {
        add("cublas", [p] { gemm(p); });
        if (p.batches == 1 && (p.c.rows == 1 || p.c.cols == 1)) {
            const auto column = p.c.cols == 1 ? p : turned(p);
            add("cublas gemv", [column] { gemv(column); });
            if (p.c.rows == p.c.cols && p.alpha == 1 && p.beta == 0) add("cublas dot", [p] { dot(p); });
        }
    }
    try {
        const auto product = std::make_shared<lt_product<Out, In>>(p);
        const auto fastest = product->fastest(search);
        for (std::size_t i = 0; i < std::min(shown_candidates, fastest.size()); ++i)
            add("cublaslt", [product, algorithm = fastest[i]] { check(product->run(algorithm)); });
    } catch (const std::exception&) {  // it refuses the problem, or is missing
        (void)cudaGetLastError();
    }
}

#else

template <class Out, class In>
void add_vendor_products(trial&, vendor_product<Out, In>, const std::function<void()>&, const std::string&,
                         bool) {}

#endif

#define HEDDLE_CLIFFS_VENDORS(Out, In)                                                               \
    template void add_vendor_products(trial&, vendor_product<Out, In>, const std::function<void()>&, \
                                      const std::string&, bool);
HEDDLE_EACH_PRODUCT(HEDDLE_CLIFFS_VENDORS)
#undef HEDDLE_CLIFFS_VENDORS

}  // namespace heddle::bench::cliffs
