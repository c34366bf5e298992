#include "tests/fuzz/run.hpp"
#include "tests/support/headers.hpp"

namespace heddle::fuzz {

/// For GoogleTest, which would print the address, another one in each run.
static void PrintTo(const operation* of, std::ostream* to) {
    *to << of->name;
}

namespace {

constexpr std::uint64_t problems = 100, problems_of_gpu = 300;

/// The line that repeats a problem.
std::string line_of(const std::string& problem, processor where) {
    const char* const options[] = {" --cpu", "", " --page begin", " --page end"};
    return "heddle-bench fuzz --problem '" + problem + "'" + options[static_cast<int>(where)];
}

std::vector<std::string_view> words_of(const operation& of, std::string_view name) {
    const auto found = std::ranges::find(of.fields, name, &field::name);
    return found == of.fields.end() ? std::vector<std::string_view>{} : found->words;
}

/// Some problems of an operation, the smaller ones first, so that sanitizers come to an end. The smallest fourth,
/// many of them without elements, is last.
std::vector<problem> small_problems(const operation& of) {
    constexpr std::uint64_t drawn = 300;
    std::vector<problem> all;
    for (std::uint64_t index = 0; index < drawn; ++index)
        all.push_back(draw_problem(of, test::seed(), index));
    const auto size = [&of](const problem& p) {
        double product = 1;
        for (const field& each : of.fields)
            if (each.words.empty() && each.name != "seed")
                product *= static_cast<double>(std::max<std::int64_t>(p[each.name], 1));
        return product;
    };
    std::ranges::stable_sort(all, {}, size);
    std::ranges::rotate(all, all.begin() + drawn / 4);
    return all;
}

class drawn_problems : public testing::TestWithParam<const operation*> {
  protected:
    /// Whether the processor of the problems exists. Without a GPU the test is skipped, or fails where one is required.
    static bool is_there(processor where) {
        const std::string reason = where == processor::cpu ? "" : test::why_no_gpu();
        [&] {
            if (reason.empty()) return;
            if (test::is_gpu_required()) FAIL() << "HEDDLE_REQUIRE_GPU is set: " << reason;
            GTEST_SKIP() << reason;
        }();
        return reason.empty();
    }

    using runner = outcome (*)(const problem&, processor);

    static void check(processor where, runner run = fuzz::run) {
        if (!is_there(where)) return;
        constexpr std::uint64_t most_wrong = 5;  // each takes long to simplify
        const std::uint64_t count =
            (where == processor::gpu && run == fuzz::run ? problems_of_gpu : problems) * GetParam()->times;
        std::uint64_t done = 0, wrong = 0;
        for (std::uint64_t index = 0; index < count && wrong < most_wrong; ++index) {
            const problem p = draw_problem(*GetParam(), test::seed(), index);
            const outcome found = run(p, where);
            EXPECT_EQ(found.wrong, "")
                << line_of(to_string(p), where) << "\nsimpler: " << line_of(found.repeated, where);
            done += found.is_refused ? 0 : 1;
            wrong += found.wrong.empty() ? 0 : 1;
        }
        if (wrong == 0) {
            EXPECT_GT(done, count / 4) << "rungs that cannot do what is drawn leave too little";
        }
    }

    /// Runs every rung on every type that it takes, by one problem each.
    static void check_every_rung(processor where, runner run = fuzz::run) {
        if (!is_there(where)) return;
        const std::size_t types = std::max<std::size_t>(words_of(*GetParam(), "type").size(), 1);
        const auto rungs = words_of(*GetParam(), "rung");
        const std::vector<problem> candidates = small_problems(*GetParam());
        const bool has_all_rungs = HEDDLE_COMPILED_FOR_90 == 1 && test::has_warpgroups();
        for (std::size_t rung = 0; rung < std::max<std::size_t>(rungs.size(), 1); ++rung) {
            bool is_done = !has_all_rungs;
            for (std::size_t type = 0; type < types; ++type) {
                outcome found{.is_refused = true};
                for (std::size_t i = 0; found.is_refused && i < candidates.size(); ++i) {
                    problem p = candidates[i];
                    if (p.has("type")) p.set("type", static_cast<std::int64_t>(type));
                    if (p.has("rung")) p.set("rung", static_cast<std::int64_t>(rung));
                    found = run(p, where);
                }
                EXPECT_EQ(found.wrong, "") << line_of(found.repeated, where);
                is_done = is_done || !found.is_refused;
            }
            EXPECT_TRUE(is_done) << (rungs.empty() ? "it" : rungs[rung]) << " can do none of what is drawn";
        }
    }
};

TEST_P(drawn_problems, are_right_on_the_cpu) {
    check(processor::cpu);
}

TEST_P(drawn_problems, are_right_on_the_gpu) {
    check(processor::gpu);
}

/// The set that runs under sanitizers.
TEST_P(drawn_problems, run_every_rung_on_the_gpu) {
    check_every_rung(processor::gpu);
}

TEST_P(drawn_problems, give_the_same_bits_in_a_graph) {
    check(processor::gpu, run_in_a_graph);
    check_every_rung(processor::gpu, run_in_a_graph);
}

TEST_P(drawn_problems, keep_to_what_begins_their_pages) {
    check(processor::gpu_page_begin);
    check_every_rung(processor::gpu_page_begin);
}

TEST_P(drawn_problems, keep_to_what_ends_their_pages) {
    check(processor::gpu_page_end);
    check_every_rung(processor::gpu_page_end);
}

std::vector<const operation*> all_operations() {
    std::vector<const operation*> all;
    for (const operation& each : operations()) all.push_back(&each);
    return all;
}
INSTANTIATE_TEST_SUITE_P(of, drawn_problems, testing::ValuesIn(all_operations()),
                         [](const auto& of) { return std::string(of.param->name); });

TEST(problem_text, is_read_as_it_was_written) {
    for (const operation& each : operations())
        for (std::uint64_t index = 0; index < problems; ++index) {
            const problem p = draw_problem(each, 7, index);
            EXPECT_EQ(parse_problem(to_string(p)), p) << to_string(p);
        }
    for (const char* const wrong :
         {"nonsense", "scan width=3", "scan size", "scan size=x", "scan type=u8", "scan size=-1"})
        EXPECT_THROW((void)parse_problem(wrong), std::invalid_argument) << wrong;
}

TEST(simplified_problem, fails_too_and_is_as_simple_as_can_be) {
    const problem p = parse_problem("scan type=i64 function=exclusive size=5000 step=3 offset=7 seed=12345");
    const problem found =
        simplified(p, [](const problem& tried) { return tried["size"] >= 1025 && tried["step"] != 1; });
    EXPECT_EQ(to_string(found), "scan size=1025 step=2");
}

TEST(outcomes, are_wrong_where_a_problem_is_wrong_once) {
    static int calls = 0;
    const operation at_times{
        .name = "at_times",
        .fields = {{"size", 1}},
        .draw = [](drawing&, problem&) {},
        .wrong = [](const problem&, processor) -> std::string { return ++calls == 1 ? "late" : ""; }};
    problem p(at_times);
    p.set("size", 8);
    const outcome found = run(p, processor::cpu);
    EXPECT_EQ(found.wrong, "late, but not each time");
    EXPECT_EQ(found.repeated, "at_times size=8");
}

}  // namespace
}  // namespace heddle::fuzz
