// What the interpreter knows of tensor memory and tcgen05, on small programs that are written here step by step.
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

using Place = codegen::Place;

Step simple(StepKind kind) {
  Step step;
  step.kind = kind;
  return step;
}

Step on(StepKind kind, std::size_t barrier, std::size_t cursor, int count = 1) {
  Step step = simple(kind);
  step.barrier = barrier;
  step.cursor = cursor;
  step.count = count;
  return step;
}

Variable registers(std::size_t value, int count) {
  Variable variable;
  variable.value = value;
  variable.registers = count;
  return variable;
}

/// A kernel, and words for steps of a program of it.
struct Hand {
  Kernel kernel;
  Program program;

  explicit Hand(const std::string& name, const Scope& sizes) {
    const auto loaded = load_kernel(test::repository_path("kernels/" + name + ".json"));
    REQUIRE(loaded.ok());
    kernel = *loaded;
    const auto scope = parameter_scope(kernel, sizes, true);
    REQUIRE(scope.ok());
    program.kernel = name;
    program.arch = "sm_100a";
    program.params = *scope;
    program.entry_registers = 200;
  }

  std::size_t value(std::string_view name) const {
    for (std::size_t k = 0; k < kernel.values.size(); ++k)
      if (kernel.values[k].name == name) return k;
    FAIL("no value " << name);
    return 0;
  }
  OpRef op(std::string_view name) const {
    const auto find = [&](const std::vector<TileOp>& ops) {
      std::size_t k = 0;
      while (k < ops.size() && ops[k].name != name) ++k;
      return k;
    };
    if (const std::size_t k = find(kernel.body); k < kernel.body.size()) return {OpRef::List::Body, k};
    const std::size_t k = find(kernel.epilogue);
    REQUIRE(k < kernel.epilogue.size());
    return {OpRef::List::Epilogue, k};
  }

  std::size_t buffer(const std::vector<std::string>& names, int depth, bool per_tile = false) {
    Buffer& made = program.buffers.emplace_back();
    made.name = names[0];
    for (const std::string& name : names) made.values.push_back(value(name));
    made.depth = depth;
    made.per_tile = per_tile;
    return program.buffers.size() - 1;
  }
  std::size_t ring(const std::string& name, int depth, std::int64_t bytes) {
    const std::size_t made = buffer({name}, depth);
    program.buffers[made].slot_bytes = bytes;
    return made;
  }
  std::size_t tensor(const std::vector<std::string>& names, int depth, int columns, int at, bool per_tile) {
    const std::size_t made = buffer(names, depth, per_tile);
    program.buffers[made].columns = columns;
    program.buffers[made].offset = at;
    return made;
  }
  std::size_t full(std::size_t buffer, std::string_view name, int arrivals, std::int64_t bytes = 0, bool per_tile = false) {
    program.barriers.push_back({true, buffer, value(name), arrivals, bytes, per_tile});
    return program.barriers.size() - 1;
  }
  std::size_t empty(std::size_t buffer, int arrivals, bool per_tile = false) {
    program.barriers.push_back({false, buffer, program.buffers[buffer].values.front(), arrivals, 0, per_tile});
    program.buffers[buffer].empty = program.barriers.size() - 1;
    return program.barriers.size() - 1;
  }
  Role role(const std::string& name, int warps, int first_thread) const {
    Role made;
    made.name = name;
    made.warps = warps;
    made.first_thread = first_thread;
    made.warpgroups = first_thread % 128 == 0 ? 1 : 0;
    return made;
  }

  Place slot(std::size_t buffer, std::string_view name, std::size_t cursor, std::int64_t iteration = 0) const {
    return {Place::Kind::Buffer, buffer, 0, cursor, value(name), iteration};
  }
  Place variable(std::size_t index, std::string_view name, std::int64_t iteration = 0) const {
    return {Place::Kind::Variable, index, 0, 0, value(name), iteration};
  }
  Step issue(std::string_view name, Engine engine, std::vector<Place> inputs, Place output = {}) const {
    Step step = simple(StepKind::Issue);
    step.op = op(name);
    step.engine = engine;
    step.inputs = std::move(inputs);
    step.output = output;
    return step;
  }
  Step load(std::string_view name, std::size_t barrier, std::size_t cursor, Place output) const {
    Step step = issue(name, Engine::Load, {}, output);
    step.barrier = barrier;
    step.cursor = cursor;
    return step;
  }
  Step compute(std::string_view name, std::vector<Place> inputs, Place output, Piece piece = {}) const {
    Step step = simple(StepKind::Compute);
    step.op = op(name);
    step.inputs = std::move(inputs);
    step.output = output;
    step.piece = piece;
    return step;
  }
};

Step until(std::size_t barrier, std::size_t cursor) { return on(StepKind::Wait, barrier, cursor); }
Step until_free(std::size_t barrier, std::size_t cursor) {
  Step step = until(barrier, cursor);
  step.ahead = true;
  return step;
}
Step advance(std::size_t cursor) { return on(StepKind::Advance, 0, cursor); }

codegen::Section section(codegen::Section::Part part, std::vector<Step> steps, std::int64_t times = 1) {
  codegen::Section made;
  made.part = part;
  made.loop = part == codegen::Section::Part::Steady;
  made.times = times;
  made.steps = std::move(steps);
  made.after = part == codegen::Section::Part::End;
  return made;
}

std::optional<ProgramFault> first_fault(const Hand& hand, std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    if (auto fault = run_symbolic(hand.kernel, hand.program, {.seed = seed, .tiles = 1 + static_cast<std::int64_t>(seed % 3)}))
      return fault;
  return std::nullopt;
}

void check_sound(const Hand& hand) {
  if (const auto fault = first_fault(hand, 600)) REQUIRE(to_string(*fault) == "");
}

/// The change is found out, in one of these words.
void check_caught(Hand hand, const std::string& what, const std::set<FaultKind>& kinds, const std::function<void(Program&)>& change) {
  change(hand.program);
  const auto fault = first_fault(hand, 600);
  CAPTURE(what, fault ? to_string(*fault) : "");
  REQUIRE(fault);
  CHECK(kinds.contains(fault->kind));
}

/// Without the `number`th step of a kind in a role's section.
void drop(Program& program, std::size_t role, std::size_t section, StepKind kind, int number = 0) {
  auto& steps = program.roles[role].sections[section].steps;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (steps[k].kind == kind && number-- == 0) {
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(k));
      return;
    }
  FAIL("no such step");
}

/// The accumulator of the next tile is filled while this one's is read; with pairs one block issues for both.
Hand gemm(bool pair) {
  Hand hand("gemm_blackwell", {{"M", 512}, {"N", 512}, {"K", 192}});
  Program& p = hand.program;
  p.pair = pair;
  p.cluster = pair ? 2 : 1;
  p.trips = 3;
  const std::size_t a = hand.ring("a", 2, 16384), b = hand.ring("b", 2, 32768), c = hand.tensor({"c"}, 2, 256, 0, true);
  const std::size_t out = hand.buffer({"out"}, 1, true);
  p.buffers[out].slot_bytes = 16384;
  const int blocks = p.cluster;
  const std::size_t full_a = hand.full(a, "a", blocks, 16384), empty_a = hand.empty(a, 1),
                    full_b = hand.full(b, "b", blocks, 32768 / blocks), empty_b = hand.empty(b, 1), full_c = hand.full(c, "c", 1, 0, true),
                    empty_c = hand.empty(c, 4 * blocks, true);
  p.tensor = {512, 1};
  const RingCursor ring{.depth = 2}, tile{.depth = 2, .per_tile = true}, room{.depth = 1, .per_tile = true};

  Role load = hand.role("load", 1, 0);
  load.cursors = {ring};
  load.sections = {section(codegen::Section::Part::Steady,
                           {until_free(empty_a, 0), hand.load("load_a", full_a, 0, hand.slot(a, "a", 0)), until_free(empty_b, 0),
                            hand.load("load_b", full_b, 0, hand.slot(b, "b", 0)), advance(0)},
                           p.trips)};
  Role mma = hand.role("mma", 1, 32);
  mma.cursors = {ring, tile};
  mma.sections = {
      section(codegen::Section::Part::Begin, {until_free(empty_c, 1)}),
      section(codegen::Section::Part::Steady,
              {until(full_a, 0), until(full_b, 0), simple(StepKind::FenceAfter),
               hand.issue("MMA", Engine::Mma, {hand.slot(a, "a", 0), hand.slot(b, "b", 0), hand.slot(c, "c", 1, -1)}, hand.slot(c, "c", 1)),
               on(StepKind::Signal, empty_a, 0), on(StepKind::Signal, empty_b, 0), advance(0)},
              p.trips),
      section(codegen::Section::Part::End, {on(StepKind::Signal, full_c, 1), advance(1)})};
  Role epilogue = hand.role("epilogue", 4, 128);
  epilogue.cursors = {tile, room};
  epilogue.variables = {registers(hand.value("r"), 64), registers(hand.value("h"), 32)};
  std::vector<Step> end{until(full_c, 0)};
  for (int k = 0; k < 4; ++k) {
    const Piece piece{k, 4};
    const Place r = hand.variable(0, "r", kPerTile), h = hand.variable(1, "h", kPerTile), staged = hand.slot(out, "out", 1, kPerTile);
    end.push_back(simple(StepKind::FenceAfter));
    end.push_back(hand.compute("read", {hand.slot(c, "c", 0, p.trips - 1)}, r, piece));
    end.push_back(simple(StepKind::AwaitReads));
    if (k == 3) {
      end.push_back(simple(StepKind::FenceBefore));
      end.push_back(on(StepKind::Arrive, empty_c, 0, 4));
    }
    end.push_back(hand.compute("narrow", {r}, h, piece));
    Step retire = simple(StepKind::Retire), commit = simple(StepKind::Commit);
    retire.engine = commit.engine = Engine::Store;
    end.push_back(retire);
    end.push_back(simple(StepKind::Sync));
    end.push_back(hand.compute("stage", {h}, staged, piece));
    end.push_back(simple(StepKind::Sync));
    Step store = hand.issue("store", Engine::Store, {staged});
    store.piece = piece;
    end.push_back(store);
    end.push_back(commit);
  }
  end.push_back(advance(0));
  epilogue.sections = {section(codegen::Section::Part::End, end)};
  p.roles = {load, mma, epilogue};
  return hand;
}

/// S, P over its first half, O as long as the tile; one role computes, one issues products.
Hand attention(std::int64_t trips) {
  Hand hand("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 128 * trips}});
  Program& p = hand.program;
  p.trips = trips;
  const std::size_t k = hand.ring("k", 2, 32768), v = hand.ring("v", 2, 32768), s = hand.tensor({"S0", "P0"}, 1, 128, 0, false),
                    o = hand.tensor({"O0", "R0"}, 1, 128, 128, true);
  const std::size_t full_k = hand.full(k, "k", 1, 32768), empty_k = hand.empty(k, 1), full_v = hand.full(v, "v", 1, 32768),
                    empty_v = hand.empty(v, 1), full_s = hand.full(s, "S0", 1), full_p = hand.full(s, "P0", 4), empty_s = hand.empty(s, 1),
                    full_o = hand.full(o, "O0", 1), full_r = hand.full(o, "R0", 4), done = hand.full(o, "O0", 1, 0, true),
                    empty_o = hand.empty(o, 4, true);
  p.tensor = {256, 1};
  const RingCursor ring{.depth = 2}, once{.depth = 1}, tile{.depth = 1, .per_tile = true};

  Role load = hand.role("load", 1, 0);
  load.cursors = {ring};
  load.sections = {section(codegen::Section::Part::Steady,
                           {until_free(empty_k, 0), hand.load("load_k", full_k, 0, hand.slot(k, "k", 0)), until_free(empty_v, 0),
                            hand.load("load_v", full_v, 0, hand.slot(v, "v", 0)), advance(0)},
                           trips)};
  Role mma = hand.role("mma", 1, 32);
  mma.cursors = {ring, once, tile};
  // The other operand of QK0 would be a tile of the prologue; k stands for both.
  Step await_r = until(full_r, 1);
  mma.sections = {
      section(codegen::Section::Part::Begin, {until_free(empty_o, 2)}),
      section(codegen::Section::Part::Steady,
              {until(full_k, 0), until_free(empty_s, 1), simple(StepKind::FenceAfter),
               hand.issue("QK0", Engine::Mma, {hand.slot(k, "k", 0), hand.slot(k, "k", 0)}, hand.slot(s, "S0", 1)),
               on(StepKind::Signal, full_s, 1), on(StepKind::Signal, empty_k, 0), until(full_v, 0), until(full_p, 1), await_r,
               simple(StepKind::FenceAfter),
               hand.issue("PV0", Engine::Mma, {hand.slot(s, "P0", 1), hand.slot(v, "v", 0), hand.slot(o, "R0", 2)}, hand.slot(o, "O0", 2)),
               on(StepKind::Signal, full_o, 1), on(StepKind::Signal, empty_s, 1), on(StepKind::Signal, empty_v, 0), advance(0), advance(1)},
              trips),
      section(codegen::Section::Part::End, {on(StepKind::Signal, done, 2), advance(2)})};
  // The first iteration's R0 is written out of nothing: its products then add to what the role has put there.
  Role group = hand.role("group", 4, 128);
  group.cursors = {once, tile};
  group.variables = {registers(hand.value("s0"), 64), registers(hand.value("ph0"), 32), registers(hand.value("o0"), 32),
                     registers(hand.value("r0"), 32)};
  std::vector<Step> steps{until(full_s, 0), simple(StepKind::FenceAfter)};
  for (int half = 0; half < 2; ++half) {
    const Piece piece{half, 2};
    steps.push_back(hand.compute("read_s0", {hand.slot(s, "S0", 0)}, hand.variable(half, "s0"), piece));
  }
  steps.push_back(simple(StepKind::AwaitReads));
  steps.push_back(hand.compute("write_p0", {hand.variable(0, "s0")}, hand.slot(s, "P0", 0), {0, 2}));
  steps.push_back(hand.compute("write_p0", {hand.variable(1, "s0")}, hand.slot(s, "P0", 0), {1, 2}));
  for (const StepKind kind : {StepKind::AwaitWrites, StepKind::FenceBefore}) steps.push_back(simple(kind));
  steps.push_back(on(StepKind::Arrive, full_p, 0, 4));
  // O of the iteration before, through registers in four pieces; there is none before the first.
  Step before = until(full_o, 0);
  before.ahead = true;
  const auto later = [](Step step) {
    step.skip_first = 1;
    return step;
  };
  steps.push_back(later(before));
  steps.push_back(later(simple(StepKind::FenceAfter)));
  for (int k = 0; k < 4; ++k) {
    const Piece piece{k, 4};
    steps.push_back(later(hand.compute("read_o0", {hand.slot(o, "O0", 1, -1)}, hand.variable(2, "o0"), piece)));
    steps.push_back(later(simple(StepKind::AwaitReads)));
    steps.push_back(later(hand.compute("rescale0", {hand.variable(2, "o0")}, hand.variable(3, "r0"), piece)));
    steps.push_back(later(hand.compute("write_o0", {hand.variable(3, "r0")}, hand.slot(o, "R0", 1), piece)));
  }
  steps.push_back(later(simple(StepKind::AwaitWrites)));
  steps.push_back(later(simple(StepKind::FenceBefore)));
  steps.push_back(on(StepKind::Arrive, full_r, 0, 4));
  steps.push_back(advance(0));
  Step zero = hand.compute("rescale0", {}, hand.variable(3, "r0", 0));
  Step put = hand.compute("write_o0", {hand.variable(3, "r0", 0)}, hand.slot(o, "R0", 1, 0));
  group.sections = {
      section(codegen::Section::Part::Begin, {until_free(empty_o, 1), simple(StepKind::FenceAfter), zero, put,
                                              simple(StepKind::AwaitWrites), simple(StepKind::FenceBefore)}),
      section(codegen::Section::Part::Steady, steps, trips),
      section(codegen::Section::Part::End,
              {until(done, 1), simple(StepKind::FenceAfter),
               hand.compute("read_last0", {hand.slot(o, "O0", 1, trips - 1)}, hand.variable(2, "last0", kPerTile)),
               simple(StepKind::AwaitReads), simple(StepKind::FenceBefore), on(StepKind::Arrive, empty_o, 1, 4), advance(1)})};
  mma.sections[0].steps.clear();  // who fills O first waits until it is free
  p.roles = {load, mma, group};
  return hand;
}

/// One role of four warps makes P and multiplies with it.
Hand one_role() {
  Hand hand("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}});
  Program& p = hand.program;
  p.trips = 2;
  const std::size_t k = hand.ring("k", 1, 32768), s = hand.tensor({"S0", "P0"}, 1, 128, 0, false),
                    o = hand.tensor({"O0"}, 1, 128, 128, true);
  const std::size_t full_k = hand.full(k, "k", 1, 32768), empty_k = hand.empty(k, 1), full_s = hand.full(s, "S0", 1),
                    full_o = hand.full(o, "O0", 1);
  p.tensor = {256, 0};
  Role role = hand.role("all", 4, 0);
  role.cursors = {{.depth = 1}, {.depth = 1, .per_tile = true}};
  role.variables = {registers(hand.value("s0"), 128)};
  role.sections = {section(
      codegen::Section::Part::Steady,
      {until_free(empty_k, 0),
       hand.load("load_k", full_k, 0, hand.slot(k, "k", 0)),
       until(full_k, 0),
       simple(StepKind::FenceAfter),
       hand.issue("QK0", Engine::Mma, {hand.slot(k, "k", 0), hand.slot(k, "k", 0)}, hand.slot(s, "S0", 0)),
       on(StepKind::Signal, full_s, 0),
       until(full_s, 0),
       simple(StepKind::FenceAfter),
       hand.compute("read_s0", {hand.slot(s, "S0", 0)}, hand.variable(0, "s0")),
       simple(StepKind::AwaitReads),
       hand.compute("write_p0", {hand.variable(0, "s0")}, hand.slot(s, "P0", 0)),
       simple(StepKind::AwaitWrites),
       simple(StepKind::FenceBefore),
       simple(StepKind::Sync),
       simple(StepKind::FenceAfter),
       hand.issue("PV0", Engine::Mma, {hand.slot(s, "P0", 0), hand.slot(k, "k", 0), hand.slot(o, "O0", 1, -1)}, hand.slot(o, "O0", 1)),
       on(StepKind::Signal, full_o, 0),
       on(StepKind::Signal, empty_k, 0),
       until(full_o, 0),
       advance(0)},
      p.trips)};
  p.roles = {role};
  return hand;
}

constexpr std::size_t kLoop = 1, kEnd = 2;

}  // namespace

TEST_CASE("mmas into tensor memory, with accumulators in turns, survive interleavings", "[codegen][tensor]") {
  check_sound(gemm(false));
  check_sound(gemm(true));
  for (const std::int64_t trips : {1, 2, 5}) check_sound(attention(trips));
  check_sound(one_role());
}

TEST_CASE("programs of one block and of pairs compute what heddle eval computes", "[codegen][tensor]") {
  for (const bool pair : {false, true}) {
    const Hand hand = gemm(pair);
    const auto start = make_tensors(hand.kernel, hand.program.params, 3);
    REQUIRE(start.ok());
    TensorMap wanted = *start;
    REQUIRE(execute(hand.kernel, hand.program.params, wanted).ok());
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      TensorMap tensors = *start;
      const auto fault = run_with_data(hand.kernel, hand.program, tensors, {.seed = seed, .tiles = 2});
      REQUIRE(fault.ok());
      if (*fault) REQUIRE(to_string(**fault) == "");
      CHECK(tensors.at("C").array.data == wanted.at("C").array.data);
    }
  }
}

TEST_CASE("an mma's result is not touched before its signal, and what it reads is not given back", "[codegen][tensor]") {
  using enum FaultKind;
  const Hand hand = gemm(false);
  check_caught(hand, "no wait for c", {NotReady}, [](Program& p) { drop(p, 2, 0, StepKind::Wait); });
  check_caught(hand, "no wait for an empty c", {Overwrite}, [](Program& p) { drop(p, 1, 0, StepKind::Wait); });
  check_caught(hand, "no signal on c", {Deadlock}, [](Program& p) { drop(p, 1, kEnd, StepKind::Signal); });
  check_caught(hand, "a given back before the product is issued", {NotReady, Overwrite}, [](Program& p) {
    auto& steps = p.roles[1].sections[kLoop].steps;
    std::swap(steps[3], steps[4]);
  });
  check_caught(hand, "a given back by threads", {Overwrite},
               [](Program& p) { p.roles[1].sections[kLoop].steps[4].kind = StepKind::Arrive; });
  check_caught(hand, "c told of by threads", {NotReady}, [](Program& p) { p.roles[1].sections[kEnd].steps[0].kind = StepKind::Arrive; });
  const Hand fa = attention(5);
  check_caught(fa, "S read before its signal", {NotReady}, [](Program& p) { drop(p, 2, kLoop, StepKind::Wait); });
  check_caught(fa, "P not awaited", {NotReady, Fence}, [](Program& p) { drop(p, 1, kLoop, StepKind::Wait, 3); });
  check_caught(fa, "S over P without a wait", {Overwrite}, [](Program& p) { drop(p, 1, kLoop, StepKind::Wait, 1); });
  check_caught(fa, "O of the iteration before not awaited", {NotReady}, [](Program& p) { drop(p, 2, kLoop, StepKind::Wait, 1); });
  check_caught(fa, "O read in the phase after", {NotReady, Deadlock, Parity, Overwrite}, [](Program& p) {
    for (Step& step : p.roles[2].sections[kLoop].steps)
      if (step.kind == StepKind::Wait) step.ahead = false;
  });
  check_caught(one_role(), "its own product's result", {NotReady}, [](Program& p) { drop(p, 0, 0, StepKind::Wait, 2); });
}

TEST_CASE("waits for loads and stores and fences are missed", "[codegen][tensor]") {
  using enum FaultKind;
  const Hand fa = attention(5);
  check_caught(fa, "S in registers before the wait", {NotReady, Overwrite}, [](Program& p) { drop(p, 2, kLoop, StepKind::AwaitReads); });
  check_caught(fa, "P told before it is there", {Fence, Overwrite}, [](Program& p) { drop(p, 2, kLoop, StepKind::AwaitWrites); });
  check_caught(fa, "R told before it is there", {Fence, Overwrite}, [](Program& p) { drop(p, 2, kLoop, StepKind::AwaitWrites, 1); });
  for (const int number : {0, 1})
    check_caught(fa, "no fence before the arrival", {Fence}, [&](Program& p) { drop(p, 2, kLoop, StepKind::FenceBefore, number); });
  check_caught(fa, "no fence before O is given back", {Fence}, [](Program& p) { drop(p, 2, kEnd, StepKind::FenceBefore); });
  for (const int number : {0, 1}) {
    check_caught(fa, "no fence after the wait", {Fence}, [&](Program& p) { drop(p, 2, kLoop, StepKind::FenceAfter, number); });
    check_caught(fa, "no fence before the product", {Fence}, [&](Program& p) { drop(p, 1, kLoop, StepKind::FenceAfter, number); });
  }
  const Hand one = one_role();
  for (const StepKind kind : {StepKind::FenceBefore, StepKind::Sync})
    check_caught(one, "own threads' P", {Fence}, [&](Program& p) { drop(p, 0, 0, kind); });
  check_caught(one, "own threads' P", {Fence}, [&](Program& p) { drop(p, 0, 0, StepKind::FenceAfter, 2); });
  check_caught(one, "own threads' P", {Fence, NotReady}, [&](Program& p) { drop(p, 0, 0, StepKind::AwaitWrites); });
}

TEST_CASE("pieces of a tile have numbers, in registers and in tensor memory", "[codegen][tensor]") {
  using enum FaultKind;
  const Hand fa = attention(3);
  check_caught(fa, "a piece of R missing", {NotReady}, [](Program& p) {
    auto& steps = p.roles[2].sections[kLoop].steps;
    std::erase_if(steps, [](const Step& s) { return s.piece == Piece{2, 4}; });
  });
  check_caught(fa, "a piece stored under another number", {NotReady}, [](Program& p) {
    for (Step& step : p.roles[2].sections[kLoop].steps)
      if (step.piece == Piece{2, 4} && step.output.kind == Place::Kind::Buffer) step.piece.number = 3;
  });
}

TEST_CASE("columns and lanes are looked at before anything runs", "[codegen][tensor]") {
  using enum FaultKind;
  const Hand fa = attention(2);
  check_caught(fa, "half the columns", {Aliasing}, [](Program& p) { p.tensor->columns /= 2; });
  check_caught(fa, "no power of two", {Aliasing}, [](Program& p) { p.tensor->columns = 384; });
  check_caught(fa, "O over S", {Aliasing}, [](Program& p) { p.buffers[3].offset = 64; });
  check_caught(fa, "two slots in the room of one", {Aliasing}, [](Program& p) { ++p.buffers[2].depth; });
  check_caught(fa, "a slot too narrow", {Aliasing}, [](Program& p) { p.buffers[3].columns = 96; });
  check_caught(fa, "never freed", {NotFreed}, [](Program& p) { p.tensor->freed_by.reset(); });
  check_caught(fa, "lanes of another warp", {Lanes}, [](Program& p) { p.roles[2].first_thread += 32; });
  check_caught(fa, "two warps", {Lanes}, [](Program& p) { p.roles[2].warps = 2; });
}

TEST_CASE("in a pair both blocks' loads are awaited and both blocks are told", "[codegen][tensor]") {
  using enum FaultKind;
  const Hand pair = gemm(true);
  check_caught(pair, "one block's arrival is enough", {Parity, NotReady, Deadlock}, [](Program& p) { p.barriers[0].arrivals = 1; });
  check_caught(pair, "one block's c is enough", {Parity, Overwrite, NotReady}, [](Program& p) { p.barriers[5].arrivals = 4; });
  check_caught(pair, "c not awaited", {NotReady}, [](Program& p) { drop(p, 2, 0, StepKind::Wait); });
}
