// A kernel changed at its graph: ops added, removed, renamed, of another kind.
#include "core/kernel/edit.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/formats/kernel_json.h"
#include "core/kernel/op_kind.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"

using namespace heddle;

namespace {

Kernel gemm() { return kernel_of(*find_pattern("gemm"), {{"bias", "yes"}, {"activation", "gelu"}}, "mine").value(); }

OpPlace place_of(const Kernel& kernel, const char* op) {
  const auto place = find_place(kernel, op);
  REQUIRE(place);
  return *place;
}

/// What a reader makes of its text.
Result<Kernel> read_again(const Kernel& kernel) { return parse_kernel(kernel_text(kernel), "k.json"); }

}  // namespace

TEST_CASE("an op that is taken out is bridged", "[kernel_edit]") {
  Kernel kernel = gemm();
  const std::size_t ops = kernel.epilogue.size();
  remove_op(kernel, place_of(kernel, "activate0"));
  REQUIRE(read_again(kernel).ok());
  CHECK(kernel.epilogue.size() == ops - 1);
  const TileOp& narrow = ops_of(kernel, OpList::Epilogue)[place_of(kernel, "narrow0").index];
  CHECK(narrow.inputs.front().value == "biased0");
}

TEST_CASE("a new op stands between an op and those that read it", "[kernel_edit]") {
  Kernel kernel = gemm();
  const std::string name = insert_op_behind(kernel, place_of(kernel, "activate0"), "elementwise");
  REQUIRE(read_again(kernel).ok());
  const OpPlace place = place_of(kernel, name.c_str());
  const TileOp& op = ops_of(kernel, place.list)[place.index];
  CHECK(op.inputs.front().value == "active0");
  CHECK(ops_of(kernel, OpList::Epilogue)[place_of(kernel, "narrow0").index].inputs.front().value == op.outputs.front());
  remove_op(kernel, place);
  CHECK(kernel_text(kernel) == kernel_text(gemm()));
}

TEST_CASE("a new name is one that is free, and orders follow a renamed op", "[kernel_edit]") {
  Kernel kernel = gemm();
  const std::string first = insert_op_behind(kernel, place_of(kernel, "activate0"), "elementwise");
  const std::string second = insert_op_behind(kernel, place_of(kernel, "activate1"), "elementwise");
  CHECK(first != second);
  kernel.order.push_back({"load_a0", "load_b", std::nullopt, 0});
  rename_op(kernel, place_of(kernel, "load_a0"), "first");
  CHECK(kernel.order.front().from == "first");
  CHECK(read_again(kernel).ok());
}

TEST_CASE("another kind keeps what it knows and drops the rest", "[kernel_edit]") {
  Kernel kernel = gemm();
  const OpPlace place = place_of(kernel, "activate0");
  set_kind(kernel, place, "exp2");
  CHECK_FALSE(ops_of(kernel, place.list)[place.index].attrs.contains("fn"));
  CHECK(read_again(kernel).ok());
  set_kind(kernel, place, "elementwise");
  CHECK(ops_of(kernel, place.list)[place.index].attrs.contains("fn"));
  CHECK(read_again(kernel).ok());
}

TEST_CASE("an op of the loop can read what is before it and what the last iteration left", "[kernel_edit]") {
  const Kernel kernel = gemm();
  bool carried = false, later = false;
  for (const Operand& operand : operands_for(kernel, place_of(kernel, "MMA0"))) {
    carried = carried || (operand.value == "acc0" && operand.distance == 1);
    later = later || (operand.value == "acc1" && operand.distance == 0);
  }
  CHECK(carried);
  CHECK(later);  // the prologue has zeroed it
}

TEST_CASE("whatever is done to whichever kernel, its text is read or refused in words", "[kernel_edit][property]") {
  constexpr std::uint64_t kSeed = 1123;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const auto loaded = load_kernel(entry.name);
    REQUIRE(loaded.ok());
    Kernel kernel = *loaded;
    for (int step = 0; step < 12; ++step) {
      const auto list = static_cast<OpList>(random() % 3);
      const std::size_t count = ops_of(kernel, list).size();
      if (count == 0) continue;
      const OpPlace place{list, random() % count};
      const std::string kind = op_kinds()[random() % op_kinds().size()].name;
      switch (random() % 3) {
        case 0: insert_op_behind(kernel, place, kind); break;
        case 1: remove_op(kernel, place); break;
        default: set_kind(kernel, place, kind); break;
      }
      if (const auto again = read_again(kernel); !again.ok()) CHECK_FALSE(again.error().faults.front().message.empty());
    }
  }
}
