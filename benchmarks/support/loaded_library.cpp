#include "benchmarks/support/loaded_library.hpp"

#include <dlfcn.h>

namespace heddle::bench {

loaded_library::loaded_library(const char* title, const char* file)
    : title_(title), handle_(dlopen(file, RTLD_NOW | RTLD_GLOBAL)) {
    if (handle_ == nullptr) why_missing_ = fmt::format("{} is missing: {}", title, dlerror());
}

void* loaded_library::find(const char* function) const {
    if (!is_present()) throw std::runtime_error(why_missing_);
    void* const address = dlsym(handle_, function);
    if (address == nullptr) throw std::runtime_error(fmt::format("{} has no function {}", title_, function));
    return address;
}

}  // namespace heddle::bench
