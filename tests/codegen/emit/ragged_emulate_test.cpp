// Texts of attention over lengths that end within a step or a tile, run on the CPU and compared with heddle eval; and the orders of events
// of their programs.
#include <algorithm>

#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "core/library/library.h"
#include "tests/codegen/emulation.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

namespace {

test::Lowering forward(const Scope& sizes) {
  return test::lowering("attention_forward_hopper", sizes, "tests/schedules/attention_forward_ragged_h100.json");
}

test::Lowering forward_blackwell(const Scope& sizes) {
  return test::lowering("attention_forward_blackwell", sizes, "tests/schedules/attention_forward_ragged_b200.json");
}

test::Lowering backward(const Scope& sizes) {
  return test::lowering("attention_backward_hopper", sizes, "tests/schedules/attention_backward_ragged_h100.json");
}

}  // namespace

TEST_CASE("the text of attention over keys that end within a step computes what heddle eval computes", "[codegen][.slow]") {
  for (const Scope& sizes : {Scope{{"HEADS", 2}, {"Q_LEN", 200}, {"KV_LEN", 520}},  // 8 keys in the last step
                             {{"HEADS", 2}, {"Q_LEN", 127}, {"KV_LEN", 255}},
                             {{"HEADS", 1}, {"Q_LEN", 1}, {"KV_LEN", 1}}}) {
    INFO("KV_LEN " << sizes.at("KV_LEN"));
    CHECK(run_text(forward(sizes), 2) < 4e-3);
  }
  const Scope few{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 9}};
  CHECK(run_text(forward(few), 1, {"(e & 1) >= own", "(e & 1) > own"}) > 0.02);
  CHECK(run_text(forward(few), 1, {"end - column - lane % 4 * 2", "end - column"}) > 0.02);
  CHECK(run_text(forward(few), 1, {"column + 128 > end", "column + 128 > end + 128"}) > 0.02);
}

TEST_CASE("the text of causal attention over keys that end within a step computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "attention_forward_causal_hopper";
  CHECK(run_text(name, {{"HEADS", 2}, {"Q_LEN", 200}, {"KV_LEN", 200}}, 2) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 150}, {"KV_LEN", 333}}, 1) < 4e-3);  // the diagonal is in the middle of steps
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 1}, {"KV_LEN", 300}}, 1) < 4e-3);
}

TEST_CASE("the text for Blackwell of attention over keys that end within a step computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text(forward_blackwell({{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 330}}), 1) < 4e-3);
  const Scope few{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 9}};
  CHECK(run_text(forward_blackwell(few), 1) < 4e-3);
  CHECK(run_text(forward_blackwell(few), 1, {"if (e >= own)", "if (e > own)"}) > 0.02);
}

TEST_CASE("the text of attention backward over a last block of keys that is short computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text(backward({{"HEADS", 1}, {"Q_LEN", 100}, {"KV_LEN", 200}}), 1) < 4e-3);
}

TEST_CASE("programs with a masked last step survive interleavings", "[codegen]") {
  const Scope sizes{{"HEADS", 1}, {"KV_LEN", 200}};
  for (const test::Lowering& from : {forward(sizes), forward_blackwell(sizes), backward(sizes)})
    for (const std::int64_t trips : {1, 2, 3, 9}) {
      const Program program = test::program_of(from, trips);
      for (int k = 0; k < 30; ++k)
        if (const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 3})) {
          INFO(from.kernel.name << ", " << trips << " trips");
          REQUIRE(to_string(*fault) == "");
        }
    }
}

TEST_CASE("a kernel of whole steps has no mask in its text", "[codegen]") {
  const test::Lowering whole = test::lowering("attention_forward_hopper"), cut = forward({{"KV_LEN", 8200}});
  const auto masks = [](const Kernel& kernel) {
    return std::count_if(kernel.body.begin(), kernel.body.end(), [](const TileOp& op) { return op.kind == "mask"; });
  };
  CHECK(masks(whole.kernel) == 0);
  CHECK(masks(cut.kernel) == 2);
  CHECK(cut.problem.ops.size() == whole.problem.ops.size() + 2);
}
