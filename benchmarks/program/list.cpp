#include "benchmarks/headline.hpp"
#include "benchmarks/program/commands.hpp"
#include "benchmarks/program/selection.hpp"

namespace heddle::bench {
namespace {

using names = std::vector<std::string_view>;

names copy_of(std::span<const std::string_view> all) {
    return {all.begin(), all.end()};
}

/// Those of float, and those that 16 bits have beside them.
names kernels_of_matmul() {
    names all = copy_of(matmul_kernels(element_type::f32));
    for (const std::string_view kernel : matmul_kernels(element_type::f16))
        if (std::ranges::find(all, kernel) == all.end()) all.push_back(kernel);
    return all;
}

/// @throws usage_error  an operation whose kernels have no names
names kernels_of(std::string_view operation) {
    if (operation == "matmul") return kernels_of_matmul();
    if (operation == "conv") return copy_of(conv_kernels());
    if (operation == "pool") return copy_of(pool_kernels());
    if (operation == "gaussian_blur") return copy_of(gaussian_blur_kernels());
    const names all = {"matmul", "conv", "pool", "gaussian_blur"};
    throw usage_error(
        fmt::format("--kernels: no kernels of {} can be asked for{}", operation,
                    suggestion(operation, all, fmt::format("those of {} can", fmt::join(all, ", ")))));
}

}  // namespace

void add_list(CLI::App& program) {
    CLI::App* const command =
        program.add_subcommand("list", "Print the names of the rows; of the headline each row and its peer");
    const auto wanted = std::make_shared<selection>();
    add_filters(*command, *wanted);
    const auto operation = std::make_shared<std::string>();
    command->add_option(
        "--kernels", *operation,
        "print the names of the kernels of matmul, conv, pool or gaussian_blur instead, as options "
        "of a call take them");
    command->callback([wanted, operation] {
        if (!operation->empty()) {
            if (wanted->is_filtered()) throw usage_error("--kernels takes no filters");
            for (const std::string_view kernel : kernels_of(*operation)) fmt::print("{}\n", kernel);
            return;
        }
        const rows all = selected_rows(*wanted);
        if (!wanted->headline) {
            for (const registered_row* row : all) fmt::print("{}\n", row->name);
            return;
        }
        for (const headline_row& entry : headline())
            for (const registered_row* row : all)
                if (row->name == entry.name)
                    fmt::print("{} {}\n", entry.name,
                               library_lacking_for(entry.peer).empty() ? entry.peer : "-");
    });
}

}  // namespace heddle::bench
