#pragma once

#include "kernels/frame/tile_scheduler.hpp"

/// The work of a kernel of the frame: products, and which worker does which of their tiles.
namespace heddle::kernels::frame {

/// The tiles of one product: `whole` ones, and where the kernel `shares` tiles, those that several workers share.
template <class Product_, bool shares>
struct one_product {
    using Product = Product_;
    static constexpr bool is_group = false;
    Product product;
    tile_schedule schedule;
    shared_sums sums;

    class walker {
      public:
        __device__ walker(const one_product& all, int index)
            : product_(all.product), tiles_(all.schedule, index) {}
        __device__ bool next(tile_work& work) { return tiles_.next(work); }
        __device__ const Product& product() const { return product_; }

      private:
        const Product& product_;
        tile_worker<shares> tiles_;
    };
};

/// The tiles of several products, all whole.
template <class Product_, int most>
struct product_group {
    using Product = Product_;
    static constexpr bool is_group = true;
    Product products[most];
    grouped_schedule<most> schedule;

    class walker {
      public:
        __device__ walker(const product_group& all, int index)
            : products_(all.products), tiles_(all.schedule, index) {}
        __device__ bool next(tile_work& work) { return tiles_.next(index_, work); }
        __device__ const Product& product() const { return products_[index_]; }

      private:
        const Product* products_;
        grouped_worker<most> tiles_;
        int index_ = 0;
    };
};

}  // namespace heddle::kernels::frame
