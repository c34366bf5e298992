#pragma once

#include <heddle/error.hpp>

#include <cuda/stream_ref>
#include <cuda_runtime_api.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>

namespace heddle::test {

/// Blocks streams until it is opened, so that a test decides when work is done, without a race. Declare it last:
/// destructors may wait for a blocked stream.
class gate {
  public:
    ~gate() { open(); }

    void hold(cuda::stream_ref stream) {
        auto opened = std::make_unique<std::shared_future<void>>(opened_);
        check(cudaLaunchHostFunc(stream.get(), wait_for, opened.get()));
        (void)opened.release();  // wait_for owns it now
    }

    void open() {
        if (!std::exchange(is_open_, true)) promise_.set_value();
    }

  private:
    /// The wait ends some time. So an erroneous wait for a blocked stream fails instead of hanging.
    static void wait_for(void* opened) {
        constexpr std::chrono::seconds limit(30);
        std::unique_ptr<std::shared_future<void>>(static_cast<std::shared_future<void>*>(opened))
            ->wait_for(limit);
    }

    std::promise<void> promise_;
    std::shared_future<void> opened_ = promise_.get_future().share();
    bool is_open_ = false;
};

}  // namespace heddle::test
