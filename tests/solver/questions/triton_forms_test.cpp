// Loops in the forms that public Triton kernels have: masks, integers as data, branches, products by mma.sync. Each opens in both readings
// and is compared; what its steps cost is what the text says.
#include <catch2/catch.hpp>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "solver/questions/triton.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

std::string folder() { return test::repository_path("tests/triton/texts/forms"); }

std::shared_ptr<const TritonProgram> opened(const std::string& path) {
  Result<mlir::Module> module = mlir::parse(read_file(path).value(), path);
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  return std::make_shared<const TritonProgram>(*std::move(program));
}

std::shared_ptr<const TritonProgram> form(const std::string& name) { return opened(folder() + "/" + name + ".scheduled.ttgir"); }

Native lowered(const TritonProgram& program, TextReading reading = TextReading::Triton) {
  REQUIRE(usual_loop(program));
  Result<Native> native = to_native(program, *usual_loop(program), reading);
  if (!native) FAIL(to_string(native.error()));
  return *std::move(native);
}

std::size_t count(const Native& native, std::string_view kind) {
  return static_cast<std::size_t>(std::ranges::count(native.kernel.body, kind, &TileOp::kind));
}

const TileOp* with_text(const Native& native, std::string_view part) {
  for (const TileOp& op : native.kernel.body)
    if (const auto* text = op.attr<std::string>("expr"); text && text->find(part) != std::string::npos) return &op;
  return nullptr;
}

bool one_element(const Native& native, const std::string& value) {
  const std::vector<Expr>& shape = native.kernel.find_value(value)->shape;
  return shape.size() == 1 && shape[0].text() == "1";
}

bool notes(const Native& native, std::string_view part) {
  return std::ranges::any_of(native.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("kernels in the forms of public ones are compared, and what Triton can build the machine can", "[triton]") {
  std::size_t texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".ttgir") continue;
    INFO(entry.path().filename().string());
    const auto program = opened(entry.path().string());
    REQUIRE(usual_loop(*program));
    const auto machine =
        load_machine(test::repository_path(program->target >= 100 ? "assets/machines/b200.json" : "assets/machines/h100.json"));
    REQUIRE(machine);
    const LoweredLoop loop{program, static_cast<std::size_t>(usual_loop(*program) - program->loops.data())};
    const Result<Comparison> comparison = solver::compare_triton({loop, *machine, 10});
    if (!comparison) FAIL(to_string(comparison.error()));
    for (const Side& side : comparison->sides) {
      INFO(title(side.whose) << ": " << side.why_not);
      REQUIRE(side.schedule);
      CHECK(check(*side.problem, *side.schedule, side.whose == Whose::Tritons ? Constraints{} : side.constraints).valid());
    }
    CHECK(comparison->of(Whose::BestOfTriton).period <= comparison->of(Whose::Tritons).period);
    CHECK(comparison->of(Whose::BestOfMachine).period <= comparison->of(Whose::BestOfTriton).period);
    ++texts;
  }
  CHECK(texts == 21);
}

TEST_CASE("a mask of rows, columns, diagonal and window is one choice of each element", "[triton]") {
  const Native native = lowered(*form("ragged_attention.2.sm90"));
  const TileOp* mask = with_text(native, "select(");
  REQUIRE(mask);
  CHECK(mask->at.size() > 2);
  CHECK(count(native, "mma") == 2);
}

TEST_CASE("integers that are loaded are taken apart as a tile like any other", "[triton]") {
  const Native packed = lowered(*form("four_bits.sm90"));
  CHECK(with_text(packed, "bit_and(shift_right("));
  CHECK(count(packed, "opaque") == 4);  // address arithmetic of its four loads by pointer
  const TileOp* both = with_text(lowered(*form("bytes_signed.sm90")), "shift_right(wrap(shift_left(");
  CHECK(both);
  const Native documents = lowered(*form("documents.sm90"));
  CHECK(with_text(documents, "select(x0 == x1") != nullptr);
}

TEST_CASE("warps issue mma.sync and wait for it, and products of f32 have no tensor core", "[triton]") {
  for (const auto& [name, variant] : {std::pair{"decode.sm90", "sync"}, {"exact_product.sm90", "fma"}}) {
    const Native native = lowered(*form(name));
    for (const TileOp& op : native.kernel.body)
      if (op.kind == "mma") CHECK(*op.attr<std::string>("variant") == variant);
  }
}

TEST_CASE("a number that a loop loads is a tile of one element, and what is computed of it reads it", "[triton]") {
  const Native native = lowered(*form("fading.sm90"));
  CHECK(count(native, "load") == 3);
  const auto reads_gate = [&](const TileOp& op) {
    return std::ranges::any_of(op.inputs, [&](const Operand& in) { return one_element(native, in.value); });
  };
  CHECK(std::ranges::any_of(native.kernel.body, reads_gate));
}

TEST_CASE("loads wait for the page whose number they look up", "[triton]") {
  const Native native = lowered(*form("decode.sm90"));
  CHECK(std::ranges::count_if(native.kernel.order, [](const auto& edge) { return edge.from.starts_with("page"); }) >= 2);
}

TEST_CASE("what ends a tile in a flattened loop stands behind the loop", "[triton]") {
  const Native native = lowered(*form("persistent_flat.sm90"));
  CHECK(count(native, "tma_store") == 0);
  CHECK(std::ranges::count(native.kernel.epilogue, "tma_store", &TileOp::kind) == 1);
  CHECK(notes(native, "ends a tile"));
}

TEST_CASE("a branch around loads and products is taken in every turn, and that is said", "[triton]") {
  const Native native = lowered(*form("early_exit.sm90"));
  CHECK(count(native, "mma") == 1);
  CHECK(notes(native, "is taken in every turn"));
}

TEST_CASE("a product that begins with a row of biases begins with it spread over its rows", "[triton]") {
  const Native native = lowered(*form("begins_with_bias.sm90"));
  CHECK(count(native, "broadcast") + static_cast<std::size_t>(std::ranges::count(native.kernel.prologue, "broadcast", &TileOp::kind)) == 1);
}

TEST_CASE("what no kind expresses takes part with an estimate, and that is said", "[triton]") {
  const Native native = lowered(*form("prefix_scaled.sm90"));
  CHECK(notes(native, "tt.scan has no kind here; what it computes is not modelled"));
}

TEST_CASE("sizes that the text does not say leave the loop its turns", "[triton]") {
  for (const char* name : {"whole_blocks.sm90", "between.sm90", "with_barrier.sm90"}) {
    INFO(name);
    const Native native = lowered(*form(name));
    Scope scope;
    for (const Param& param : native.kernel.params) scope[param.name] = param.value;
    const auto trips = native.kernel.loop.trips.evaluate(scope);
    REQUIRE(trips);
    CHECK(*trips >= 2);
  }
}

TEST_CASE("a state that is stored before it is changed is the one of the iteration before", "[triton]") {
  const auto program = form("states.sm90");
  for (const TextReading reading : {TextReading::Triton, TextReading::Free}) {
    const Native native = lowered(*program, reading);
    const auto store = std::ranges::find(native.kernel.body, "store", &TileOp::kind);
    REQUIRE(store != native.kernel.body.end());
    REQUIRE(store->inputs.size() == 1);
    if (reading == TextReading::Triton) CHECK(store->inputs[0].distance == 1);
    CHECK(notes(native, "stores what an earlier iteration computed"));
  }
}
