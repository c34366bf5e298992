#include "kernels/frame/tile_scheduler.hpp"

#include "tests/support/headers.hpp"

namespace heddle::kernels::frame {
namespace {

/// Calls check(schedule) for schedules of many shapes: all tiles whole, whole rounds and a streamed rest, all streamed.
template <class Check>
void for_many_schedules(Check check) {
    for (const int down : {1, 2, 5, 17, 33})
        for (const int across : {1, 3, 8})
            for (const int steps : {1, 2, 7, 64, 1000})
                for (const int workers : {1, 2, 7, 66, 132})
                    for (const int mode : {0, 1, 2}) {
                        const int batches = 1 + steps % 3;
                        const int tiles = batches * down * across;
                        const int whole = mode == 0 ? tiles : mode == 1 ? tiles / workers * workers : 0;
                        const int streams = whole == tiles ? 0 : (workers + steps % 2) / (1 + steps % 2);
                        const tile_schedule schedule{batches, down,    across, 8,
                                                     steps,   workers, whole,  streams};
                        if (streams > workers || schedule.streamed_steps() < streams) continue;
                        SCOPED_TRACE(std::to_string(down) + " x " + std::to_string(across) + " tiles of " +
                                     std::to_string(steps) + " steps, " + std::to_string(whole) + " whole, " +
                                     std::to_string(workers) + " workers");
                        check(schedule);
                        if (testing::Test::HasFailure()) return;
                    }
}

TEST(tile_scheduler, gives_every_step_of_every_tile_to_one_worker) {
    for_many_schedules([](const tile_schedule& schedule) {
        std::vector<int> times(static_cast<std::size_t>(schedule.tiles() * schedule.steps));
        for (int worker = 0; worker < schedule.workers; ++worker) {
            tile_worker<> tiles(schedule, worker);
            for (tile_work work{}; tiles.next(work);) {
                ASSERT_TRUE(work.row >= 0 && work.row < schedule.down && work.col >= 0 &&
                            work.col < schedule.across);
                ASSERT_TRUE(work.batch >= 0 && work.batch < schedule.batches);
                ASSERT_TRUE(work.first >= 0 && work.first < work.last && work.last <= schedule.steps);
                for (int step = work.first; step < work.last; ++step)
                    ++times[static_cast<std::size_t>(
                        ((work.batch * schedule.down + work.row) * schedule.across + work.col) *
                            schedule.steps +
                        step)];
            }
        }
        for (const int count : times) ASSERT_EQ(count, 1);
    });
}

TEST(tile_scheduler, knows_who_shares_a_tile) {
    for_many_schedules([](const tile_schedule& schedule) {
        std::map<int, std::vector<int>> workers_of;
        std::set<int> slots;
        for (int worker = 0; worker < schedule.workers; ++worker) {
            tile_worker<> tiles(schedule, worker);
            for (tile_work work{}; tiles.next(work);) {
                const bool is_whole = work.first == 0 && work.last == schedule.steps;
                ASSERT_EQ(work.tile < 0, is_whole);
                if (is_whole) continue;
                workers_of[work.tile].push_back(worker);
                const int slot = schedule.slot(worker, work.tile);
                ASSERT_TRUE(slot >= 0 && slot < 2 * schedule.streams && slots.insert(slot).second);
            }
        }
        for (const auto& [tile, workers] : workers_of) {
            ASSERT_EQ(workers.front(), schedule.first_worker(tile));
            ASSERT_EQ(workers.back(), schedule.last_worker(tile));
            for (std::size_t i = 0; i < workers.size(); ++i)
                ASSERT_EQ(workers[i], workers[0] + static_cast<int>(i));
        }
    });
}

TEST(tile_scheduler, cuts_the_streamed_steps_evenly) {
    for_many_schedules([](const tile_schedule& schedule) {
        if (schedule.whole == schedule.tiles()) return;
        const std::int64_t share = schedule.streamed_steps() / schedule.streams;
        for (int worker = 0; worker < schedule.streams; ++worker) {
            const std::int64_t length = schedule.stream_begin(worker + 1) - schedule.stream_begin(worker);
            ASSERT_TRUE(length == share || length == share + 1);
        }
    });
}

/// Then all tiles are read at the same place along k at the same time.
TEST(tile_scheduler, cuts_tiles_into_the_same_parts_where_workers_are_a_multiple_of_them) {
    for (const int tiles : {1, 2, 7, 30})
        for (const int parts : {2, 3, 8, 66})
            for (const int steps : {66, 67, 1000, 5955}) {
                SCOPED_TRACE(std::to_string(tiles) + " tiles, " + std::to_string(parts) + " parts of " +
                             std::to_string(steps) + " steps");
                const tile_schedule schedule{1, tiles, 1, 8, steps, tiles * parts, 0, tiles * parts};
                for (int worker = 0; worker < schedule.workers; ++worker) {
                    tile_worker<> pieces(schedule, worker);
                    tile_work work{};
                    ASSERT_TRUE(pieces.next(work));
                    ASSERT_EQ(work.tile, worker / parts);
                    ASSERT_EQ(work.first, steps * (worker % parts) / parts);
                    ASSERT_EQ(work.last, steps * (worker % parts + 1) / parts);
                    ASSERT_FALSE(pieces.next(work));
                }
            }
}

TEST(tile_scheduler, gives_every_tile_of_a_group_to_one_worker) {
    constexpr int max_products = 5;
    for (const int products : {1, 2, max_products})
        for (const int workers : {1, 2, 7, 132}) {
            SCOPED_TRACE(std::to_string(products) + " products, " + std::to_string(workers) + " workers");
            grouped_schedule<max_products> group{workers};
            std::vector<std::vector<int>> times;  // how often each tile of each product is done
            for (int i = 0; i < products; ++i) {
                const int down = 1 + 9 * i % 17, across = 1 + i * i, steps = 10 * (products - i);
                group.add({1, down, across, 8, steps, workers, down * across, 0});
                times.emplace_back(down * across);
            }
            std::vector<int> tiles_of;
            for (int worker = 0; worker < workers; ++worker) {
                tiles_of.push_back(0);
                grouped_worker tiles(group, worker);
                int product = 0;
                for (tile_work work{}; tiles.next(product, work); ++tiles_of.back()) {
                    ASSERT_TRUE(product >= 0 && product < products);
                    const tile_schedule& schedule = group.of[product];
                    ASSERT_TRUE(work.row >= 0 && work.row < schedule.down && work.col >= 0 &&
                                work.col < schedule.across);
                    ASSERT_TRUE(work.batch == 0 && work.first == 0 && work.last == schedule.steps);
                    ++times[static_cast<std::size_t>(product)]
                           [static_cast<std::size_t>(work.row * schedule.across + work.col)];
                }
            }
            for (const std::vector<int>& of_product : times)
                for (const int count : of_product) ASSERT_EQ(count, 1);
            const int all = group.begin[products];
            for (const int count : tiles_of)
                ASSERT_TRUE(count == all / workers || count == (all + workers - 1) / workers);
        }
}

}  // namespace
}  // namespace heddle::kernels::frame
