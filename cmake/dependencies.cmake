# The packages that heddle is built with. Packages that are not installed are fetched by a pinned hash. Debian 12 has
# all of them.
include(FetchContent)

include(cmake/nvtoolsext.cmake)
find_package(CUDAToolkit 13.0 REQUIRED)
include(cmake/cuda.cmake)
find_package(OpenMP REQUIRED COMPONENTS CXX)

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  FetchContent_Declare(fmt
    URL https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz
    URL_HASH SHA256=5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
  FetchContent_MakeAvailable(fmt)
endif()

if(HEDDLE_BUILD_TESTS)
  find_package(GTest 1.12 QUIET)
  if(NOT GTest_FOUND)
    set(INSTALL_GTEST OFF)
    FetchContent_Declare(googletest
      URL https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
      URL_HASH SHA256=81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2)
    FetchContent_MakeAvailable(googletest)
  endif()
endif()

if(HEDDLE_BUILD_BENCHMARKS)
  find_package(benchmark 1.7 QUIET)
  if(NOT benchmark_FOUND)
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    FetchContent_Declare(benchmark
      URL https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz
      URL_HASH SHA256=6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
    FetchContent_MakeAvailable(benchmark)
  endif()
endif()

# Examples that read pictures need libpng and libjpeg, and fashion_mnist also zlib. Without them they are not built.
if(HEDDLE_BUILD_EXAMPLES)
  find_package(PNG QUIET)
  find_package(JPEG QUIET)
  find_package(ZLIB QUIET)
endif()

if(HEDDLE_BUILD_BENCHMARKS OR HEDDLE_BUILD_EXAMPLES)
  find_package(nlohmann_json 3.11 QUIET)
  if(NOT nlohmann_json_FOUND)
    FetchContent_Declare(nlohmann_json
      URL https://github.com/nlohmann/json/releases/download/v3.11.2/json.tar.xz
      URL_HASH SHA256=8c4b26bf4b422252e13f332bc5e388ec0ab5c3443d24399acb675e68278d341f)
    FetchContent_MakeAvailable(nlohmann_json)
  endif()
  find_package(CLI11 2.1 QUIET)
  if(NOT CLI11_FOUND)
    FetchContent_Declare(CLI11
      URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.1.2.tar.gz
      URL_HASH SHA256=26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb)
    FetchContent_MakeAvailable(CLI11)
  endif()
endif()

# Tests and benchmarks compare with the vendor's libraries. heddle itself never links them.
if(HEDDLE_BUILD_TESTS OR HEDDLE_BUILD_BENCHMARKS OR HEDDLE_BUILD_EXAMPLES)
  include(cmake/baselines.cmake)
endif()
