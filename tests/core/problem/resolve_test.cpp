// Edges, channels and residents of small kernels, number by number.
#include "core/problem/resolve.h"

#include <catch2/catch.hpp>

#include "core/formats/kernel_json.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Kernel kernel_of(const std::string& text) {
  Result<Kernel> kernel = parse_kernel(text, "test.json");
  INFO((kernel ? "" : to_string(kernel.error())));
  REQUIRE(kernel);
  return *kernel;
}

Machine machine(const std::string& name) {
  Result<Machine> m = load_machine(test::repository_path("assets/machines/" + name + ".json"));
  REQUIRE(m);
  return *m;
}

Problem resolved(const Kernel& kernel, const Machine& m, const Scope& params = {}) {
  Result<Problem> problem = resolve(kernel, m, params);
  INFO((problem ? "" : to_string(problem.error())));
  REQUIRE(problem);
  return *problem;
}

const Edge& edge(const Problem& p, const std::string& from, const std::string& to, int distance = 0) {
  for (const Edge& e : p.edges)
    if (p.op(e.from).name == from && p.op(e.to).name == to && e.distance == distance) return e;
  FAIL("no edge " << from << " -> " << to << " of distance " << distance);
  return p.edges.front();
}

const Channel* channel(const Problem& p, const std::string& name) {
  for (const Channel& c : p.channels)
    if (c.name == name) return &c;
  return nullptr;
}

const Reader& reader(const Problem& p, const std::string& channel_name, const std::string& op) {
  const Channel* c = channel(p, channel_name);
  REQUIRE(c);
  for (const Reader& r : c->readers)
    if (p.op(r.op).name == op) return r;
  FAIL("channel " << channel_name << " has no reader " << op);
  return c->readers.front();
}

const Op& op(const Problem& p, const std::string& name) {
  REQUIRE(p.find_op(name).valid());
  return p.op(p.find_op(name));
}

const Value& value(const Problem& p, const std::string& name) {
  for (const Value& v : p.values)
    if (v.name == name) return v;
  FAIL("no value " << name);
  return p.values.front();
}

/// One consumer group, both GEMMs of attention with a register P, the softmax cut down to exp2.
const char* const kAttentionLike = R"({
  "schema": "heddle.kernel/1", "name": "attention_like",
  "params": [{"name": "KV", "value": 128}, {"name": "KV_LEN", "value": 4096}],
  "tensors": [{"name": "Q", "dtype": "bf16", "shape": [64, 128], "role": "input"},
              {"name": "K", "dtype": "bf16", "shape": ["KV_LEN", 128], "role": "input"},
              {"name": "O", "dtype": "f32", "shape": [64, 128], "role": "output"}],
  "grid": [{"name": "bx", "size": 1}], "loop": {"variable": "i", "trips": "KV_LEN / KV"},
  "values": [{"name": "q", "dtype": "bf16", "shape": [64, 128], "space": "smem"},
             {"name": "k", "dtype": "bf16", "shape": ["KV", 128], "space": "smem"},
             {"name": "v", "dtype": "bf16", "shape": ["KV", 128], "space": "smem"},
             {"name": "s", "dtype": "f32", "shape": [64, "KV"], "space": "register"},
             {"name": "m", "dtype": "f32", "shape": [64], "space": "register", "registers": 2},
             {"name": "p", "dtype": "f32", "shape": [64, "KV"], "space": "register"},
             {"name": "ph", "dtype": "bf16", "shape": [64, "KV"], "space": "register"},
             {"name": "o", "dtype": "f32", "shape": [64, 128], "space": "register"}],
  "prologue": [{"name": "load_q", "kind": "tma_load", "tensor": "Q", "at": [0, 0], "out": ["q"]},
               {"name": "zero_m", "kind": "fill", "out": ["m"], "attrs": {"value": "0"}},
               {"name": "zero", "kind": "fill", "out": ["o"], "attrs": {"value": "0"}}],
  "body": [{"name": "load_k", "kind": "tma_load", "tensor": "K", "at": ["i*KV", 0], "out": ["k"]},
           {"name": "load_v", "kind": "tma_load", "tensor": "K", "at": ["i*KV", 0], "out": ["v"]},
           {"name": "QK", "kind": "mma", "in": ["q", "k"], "out": ["s"], "attrs": {"transpose_b": true}},
           {"name": "exp", "kind": "exp2", "in": ["s", "m"], "out": ["p"]},
           {"name": "cvt", "kind": "convert", "in": ["p"], "out": ["ph"]},
           {"name": "PV", "kind": "mma", "in": ["ph", "v", "o[-1]"], "out": ["o"]}],
  "epilogue": [{"name": "store", "kind": "store", "in": ["o"], "tensor": "O", "at": [0, 0]}]
})";

/// The accumulator passes through registers between two products, in tensor memory; P lies over S.
const char* const kTensorMemory = R"({
  "schema": "heddle.kernel/1", "name": "tensor_memory",
  "tensors": [{"name": "Q", "dtype": "bf16", "shape": [128, 128], "role": "input"},
              {"name": "K", "dtype": "bf16", "shape": [4096, 128], "role": "input"},
              {"name": "Out", "dtype": "f32", "shape": [128, 128], "role": "output"}],
  "grid": [{"name": "bx", "size": 1}], "loop": {"variable": "i", "trips": 32},
  "values": [{"name": "q", "dtype": "bf16", "shape": [128, 128], "space": "smem"},
             {"name": "k", "dtype": "bf16", "shape": [128, 128], "space": "smem"},
             {"name": "S", "dtype": "f32", "shape": [128, 128], "space": "tmem"},
             {"name": "s", "dtype": "f32", "shape": [128, 128], "space": "register"},
             {"name": "p", "dtype": "bf16", "shape": [128, 128], "space": "register"},
             {"name": "P", "dtype": "bf16", "shape": [128, 128], "space": "tmem", "alias_of": "S"},
             {"name": "O", "dtype": "f32", "shape": [128, 128], "space": "tmem"},
             {"name": "o", "dtype": "f32", "shape": [128, 128], "space": "register"},
             {"name": "r", "dtype": "f32", "shape": [128, 128], "space": "register"},
             {"name": "R", "dtype": "f32", "shape": [128, 128], "space": "tmem", "alias_of": "O"},
             {"name": "last", "dtype": "f32", "shape": [128, 128], "space": "register"}],
  "prologue": [{"name": "load_q", "kind": "tma_load", "tensor": "Q", "at": [0, 0], "out": ["q"]},
               {"name": "zero", "kind": "fill", "out": ["O"], "attrs": {"value": "0"}}],
  "body": [{"name": "load_k", "kind": "tma_load", "tensor": "K", "at": ["i*128", 0], "out": ["k"]},
           {"name": "QK", "kind": "mma", "in": ["q", "k"], "out": ["S"], "attrs": {"transpose_b": true}},
           {"name": "read_s", "kind": "tmem_load", "in": ["S"], "out": ["s"]},
           {"name": "cvt", "kind": "convert", "in": ["s"], "out": ["p"]},
           {"name": "write_p", "kind": "tmem_store", "in": ["p"], "out": ["P"]},
           {"name": "read_o", "kind": "tmem_load", "in": ["O[-1]"], "out": ["o"]},
           {"name": "rescale", "kind": "elementwise", "in": ["o"], "out": ["r"], "attrs": {"fn": "scale", "value": "0.5"}},
           {"name": "write_o", "kind": "tmem_store", "in": ["r"], "out": ["R"]},
           {"name": "PV", "kind": "mma", "in": ["P", "k", "R"], "out": ["O"]}],
  "epilogue": [{"name": "read", "kind": "tmem_load", "in": ["O"], "out": ["last"]},
               {"name": "store", "kind": "store", "in": ["last"], "tensor": "Out", "at": [0, 0]}]
})";

const char* const kAccumulate = R"({
  "schema": "heddle.kernel/1", "name": "accumulate",
  "tensors": [{"name": "A", "dtype": "bf16", "shape": [128, 4096], "role": "input"},
              {"name": "B", "dtype": "bf16", "shape": [4096, 256], "role": "input"},
              {"name": "C", "dtype": "f32", "shape": [128, 256], "role": "output"}],
  "grid": [{"name": "bx", "size": 1}], "loop": {"variable": "i", "trips": 64},
  "values": [{"name": "a", "dtype": "bf16", "shape": [128, 64], "space": "smem"},
             {"name": "b", "dtype": "bf16", "shape": [64, 256], "space": "smem"},
             {"name": "c", "dtype": "f32", "shape": [128, 256], "space": "tmem"},
             {"name": "r", "dtype": "f32", "shape": [128, 256], "space": "register"}],
  "prologue": [{"name": "zero", "kind": "fill", "out": ["c"], "attrs": {"value": "0"}}],
  "body": [{"name": "load_a", "kind": "tma_load", "tensor": "A", "at": [0, "i*64"], "out": ["a"]},
           {"name": "load_b", "kind": "tma_load", "tensor": "B", "at": ["i*64", 0], "out": ["b"]},
           {"name": "MMA", "kind": "mma", "in": ["a", "b", "c[-1]"], "out": ["c"]}],
  "epilogue": [{"name": "read", "kind": "tmem_load", "in": ["c"], "out": ["r"]},
               {"name": "store", "kind": "store", "in": ["r"], "tensor": "C", "at": [0, 0]}]
})";

}  // namespace

TEST_CASE("the toy has three ops of one cycle, three edges and its invariants as resident registers", "[core]") {
  const Result<Kernel> toy = load_kernel(test::repository_path("kernels/toy_fig1.json"));
  REQUIRE(toy);
  const Problem p = resolved(*toy, machine("toy"));
  REQUIRE(p.ops.size() == 3);
  REQUIRE(p.edges.size() == 3);
  for (const Op& o : p.ops) {
    CHECK(o.latency == 1);
    CHECK(o.window == 0);
    REQUIRE(o.uses.size() == 1);
    CHECK(o.uses[0].duration == 1);
  }
  CHECK(edge(p, "S", "P").latency == 1);
  CHECK(edge(p, "P", "O").latency == 1);
  CHECK(edge(p, "O", "O", 1).latency == 1);
  CHECK(edge(p, "O", "O", 1).handoff == 0);
  CHECK(p.resident_registers == 3);
  CHECK(p.max_groups == 2);
  CHECK(p.clock_note.empty());
  CHECK_FALSE(p.has_producer_group());
}

TEST_CASE("a Hopper mma costs what the machine file derives", "[core]") {
  const Problem p = resolved(kernel_of(kAttentionLike), machine("h100"));
  const Op& qk = op(p, "QK");
  REQUIRE(qk.uses.size() == 2);
  CHECK(p.unit(qk.uses[0].unit).name == "TC");
  CHECK(qk.uses[0].duration == 512);
  CHECK(p.unit(qk.uses[1].unit).name == "SMEM");
  CHECK(qk.uses[1].duration == 384);  // 8 steps of (64 + 128) * 32 bytes at 128 per cycle
  CHECK(qk.uses[1].amount == 1);
  CHECK(qk.latency == 542);
  CHECK(qk.window == 384);  // 6 of its 8 steps of 64
  CHECK((qk.asynchronous && qk.aligned && qk.warps == 4));
  const Op& pv = op(p, "PV");
  CHECK(pv.uses[0].duration == 512);
  CHECK(pv.window == 448);            // from registers, 7 of 8
  CHECK(pv.uses[1].duration == 256);  // only V is read from shared memory
  CHECK(op(p, "exp").latency == 552);
  CHECK(op(p, "load_k").variable_latency);
  CHECK(p.clock_note == "1 cycle = 0.55 ns at 1830 MHz");
}

TEST_CASE("edges know what waits, what a crossing costs and how long a register input is held", "[core]") {
  const Problem p = resolved(kernel_of(kAttentionLike), machine("h100"));
  const Edge& load = edge(p, "load_k", "QK");
  CHECK(load.latency == 450 + 512);
  CHECK(load.waits);
  CHECK(load.handoff == 0);  // the copy completes on a barrier that any group can wait for
  const Edge& scores = edge(p, "QK", "exp");
  CHECK(scores.waits);
  CHECK(scores.handoff == 61 + 512);  // 32 KB through shared memory
  CHECK(scores.hold == 0);
  const Edge& probabilities = edge(p, "cvt", "PV");
  CHECK_FALSE(probabilities.waits);
  CHECK(probabilities.hold == 542);
}

TEST_CASE("mmas onto one accumulator follow each other as soon as the unit is free", "[core]") {
  const Problem p = resolved(kernel_of(kAttentionLike), machine("h100"));
  const Edge& chain = edge(p, "PV", "PV", 1);
  CHECK(chain.latency == 512);
  CHECK_FALSE(chain.waits);
  CHECK(chain.hold == 0);
  CHECK(chain.handoff == 30 + 573);
  const Problem b = resolved(kernel_of(kAccumulate), machine("b200"));
  CHECK(edge(b, "MMA", "MMA", 1).latency == 512);
  CHECK(edge(b, "MMA", "MMA", 1).handoff == 136);
}

TEST_CASE("registers per thread come from the tile, or from the value's own formula", "[core]") {
  const Problem p = resolved(kernel_of(kAttentionLike), machine("h100"));
  CHECK(value(p, "s").registers == 64);
  CHECK(value(p, "ph").registers == 32);
  CHECK(value(p, "k").registers == 0);
  CHECK(p.resident_registers == 2);  // m, a loop invariant here
  CHECK(value(resolved(kernel_of(kAttentionLike), machine("h100"), {{"KV", 176}, {"KV_LEN", 4224}}), "s").registers == 88);
}

TEST_CASE("tiles in shared memory are channels, register values only if they cross, invariants are residents", "[core]") {
  const Problem p = resolved(kernel_of(kAttentionLike), machine("h100"));
  CHECK(p.resident_smem == 64 * 128 * 2);
  const Channel* k = channel(p, "k");
  REQUIRE(k);
  CHECK(k->size == 32768);
  CHECK(k->max_depth == 5);  // what the query tile and one slot of v leave
  CHECK_FALSE(k->only_if_crossing);
  CHECK(p.op(k->writer).name == "load_k");
  CHECK(reader(p, "k", "QK").release == 542);
  CHECK(reader(p, "k", "QK").signal == 92);  // wgmma is awaited by its warps, which then signal
  const Channel* s = channel(p, "s");
  REQUIRE(s);
  CHECK(s->only_if_crossing);
  CHECK(s->size == 32768);
  CHECK(reader(p, "s", "exp").release == 512);
  CHECK(channel(p, "o")->readers.size() == 1);
  CHECK(reader(p, "o", "PV").distance == 1);
}

TEST_CASE("an accumulator that the dependences order is resident, values over each other are one channel", "[core]") {
  const Problem p = resolved(kernel_of(kTensorMemory), machine("b200"));
  CHECK(p.resident_columns == 128);
  CHECK(channel(p, "O") == nullptr);
  CHECK(channel(p, "R") == nullptr);
  CHECK(channel(p, "P") == nullptr);
  const Channel* s = channel(p, "S");
  REQUIRE(s);
  CHECK(s->space == Space::Tmem);
  CHECK(s->size == 128);
  CHECK(s->max_depth == 3);  // what the accumulator leaves
  CHECK(s->values.size() == 2);
  CHECK(p.op(s->writer).name == "QK");
  CHECK(s->readers.size() == 2);
  CHECK(reader(p, "S", "read_s").signal == 92);
  CHECK(reader(p, "S", "PV").release == 616);
  CHECK(reader(p, "S", "PV").signal == 0);  // tcgen05.commit arrives on the barrier
  CHECK(edge(p, "write_p", "PV").handoff == 92);
  CHECK(edge(p, "QK", "read_s").handoff == 0);
  CHECK(p.resident_smem == 32768);
}

TEST_CASE("one value read by two operands of an op is one edge and one reader", "[core]") {
  Kernel k = kernel_of(kAttentionLike);
  for (TileOp& o : k.body)
    if (o.name == "exp") o.inputs = {{"s", 0}, {"s", 0}};
  const Problem p = resolved(k, machine("h100"));
  CHECK(std::count_if(p.edges.begin(), p.edges.end(), [&](const Edge& e) { return p.op(e.to).name == "exp"; }) == 1);
  CHECK(channel(p, "s")->readers.size() == 1);
}

TEST_CASE("an order edge takes the latency of its first op unless it gives its own", "[core]") {
  Kernel k = kernel_of(kAttentionLike);
  k.order = {{"load_k", "load_v", std::nullopt, 0}, {"load_v", "load_k", Expr(7), 1}};
  const Problem p = resolved(k, machine("h100"));
  CHECK(edge(p, "load_k", "load_v").latency == 962);
  CHECK_FALSE(edge(p, "load_k", "load_v").value.valid());
  CHECK(edge(p, "load_v", "load_k", 1).latency == 7);
}

TEST_CASE("a kernel's own numbers replace the rule's, field by field", "[core]") {
  Kernel k = kernel_of(kAttentionLike);
  CostOverride own;
  own.latency = *Expr::parse("3*KV");
  own.uses = std::vector<UnitCost>{{"MUFU", Expr(5), Expr(7), Expr(1)}, {"FMA", Expr(0), Expr(0), Expr(1)}};
  k.body[3].cost = own;
  const Problem p = resolved(k, machine("h100"));
  CHECK(op(p, "exp").latency == 384);
  CHECK(op(p, "exp").window == 512);
  REQUIRE(op(p, "exp").uses.size() == 1);  // a use of 0 cycles reserves nothing
  CHECK(op(p, "exp").uses[0].offset == 5);
  CHECK(op(p, "exp").uses[0].duration == 7);
}

TEST_CASE("the emulated share of exponentials moves from MUFU to the FMA pipe", "[core]") {
  Kernel k = kernel_of(kAttentionLike);
  k.body[3].inputs = {{"s", 0}};
  k.body[3].attrs["emulated"] = std::int64_t{25};
  k.body[2].outputs = {"s"};
  Machine hopper = machine("h100");
  for (const CostRule& rule : machine("b200").rules)
    if (rule.kind == "exp2")
      *std::find_if(hopper.rules.begin(), hopper.rules.end(), [](const CostRule& r) { return r.kind == "exp2"; }) = rule;
  // The b200 rule names units that h100 has too; 64 x 128 elements.
  for (CostRule& rule : hopper.rules) rule.source.clear();
  const Problem p = resolved(k, hopper);
  std::map<std::string, Cycle> uses;
  for (const UnitUse& u : op(p, "exp").uses) uses[p.unit(u.unit).name] = u.duration;
  CHECK(uses["MUFU"] == 384);
  CHECK(uses["FMA"] == 80);
  CHECK(uses["ALU"] == 96);
  CHECK(op(p, "exp").window == 384);
}
