#include "benchmarks/support/npp.hpp"

#if HEDDLE_HAS_NPP

#include <npp.h>

namespace heddle::bench {

/// That of the filters, with NPP's core, which it needs.
const loaded_library& npp_library() {
    static const loaded_library library("NPP", "libnppif.so." HEDDLE_STRING(NPP_VER_MAJOR));
    return library;
}

const NppStreamContext& npp_context() {
    static const NppStreamContext context = [] {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, current_device()));
        NppStreamContext filled{};
        filled.hStream = stream().get();
        filled.nCudaDeviceId = current_device();
        filled.nMultiProcessorCount = properties.multiProcessorCount;
        filled.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
        filled.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
        filled.nSharedMemPerBlock = properties.sharedMemPerBlock;
        filled.nCudaDevAttrComputeCapabilityMajor = properties.major;
        filled.nCudaDevAttrComputeCapabilityMinor = properties.minor;
        check(cudaStreamGetFlags(filled.hStream, &filled.nStreamFlags));
        return filled;
    }();
    return context;
}

std::string npp_version() {
    const NppLibraryVersion& version = *nppGetLibVersion();
    return fmt::format("{}.{}.{}", version.major, version.minor, version.build);
}

}  // namespace heddle::bench

#endif
