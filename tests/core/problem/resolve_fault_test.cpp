// What resolving refuses, and how it says so: each case breaks one thing in a kernel or machine that is otherwise good.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <limits>

#include "core/kernel/switches.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Kernel kernel(const std::string& name) {
  const Result<Kernel> k = load_kernel(test::repository_path("kernels/" + name + ".json"));
  REQUIRE(k);
  return *k;
}

Machine machine(const std::string& name) {
  const Result<Machine> m = load_machine(test::repository_path("assets/machines/" + name + ".json"));
  REQUIRE(m);
  return *m;
}

std::vector<Fault> faults(const Kernel& k, const Machine& m, const Scope& params = {}) {
  const Result<Problem> p = resolve(k, m, params);
  REQUIRE_FALSE(p);
  CHECK(p.error().kind == ErrorKind::Input);
  return p.error().faults;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Some fault has this file ending, this pointer, and this text in its message or hint.
void expect(const std::vector<Fault>& found, const std::string& file, const std::string& pointer, const std::string& text) {
  std::string all;
  bool hit = false;
  for (const Fault& f : found) {
    all += to_string(f) + "\n";
    hit = hit || (ends_with(f.file, file) && f.pointer == pointer && (f.message + " " + f.hint).find(text) != std::string::npos);
  }
  INFO("wanted " << file << ": " << pointer << ": ..." << text << "...\nfound\n" << all);
  CHECK(hit);
}

std::size_t index_of(const Machine& m, const std::string& kind) {
  for (std::size_t i = 0; i < m.rules.size(); ++i)
    if (m.rules[i].kind == kind) return i;
  FAIL("no rule " << kind);
  return 0;
}

std::size_t value_index(const Kernel& k, const std::string& name) { return static_cast<std::size_t>(k.find_value(name) - k.values.data()); }
/// Its place in the file, where faults say it is; ops that parameters turn off are counted.
std::size_t body_index(const Kernel& k, const std::string& name);
std::size_t file_index(const Kernel& k, const std::string& name) { return body_index(as_in_file(k), name); }

std::size_t body_index(const Kernel& k, const std::string& name) {
  for (std::size_t i = 0; i < k.body.size(); ++i)
    if (k.body[i].name == name) return i;
  FAIL("no op " << name);
  return 0;
}

Expr expr(const std::string& text) { return *Expr::parse(text); }

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("an unknown parameter is named, with the nearest known one", "[core]") {
  const auto found = faults(kernel("gemm_hopper"), machine("h100"), {{"TILE_M", 64}, {"TILE_KK", 64}});
  expect(found, "", "", "no parameter 'TILE_M'");
  expect(found, "", "", "did you mean 'TILE_K'?");
  CHECK(found.size() == 2);
}

TEST_CASE("parameters below 1 or absurd are refused, given or in the file", "[core]") {
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1} << 40, kHuge, std::numeric_limits<std::int64_t>::min()})
    expect(faults(kernel("gemm_hopper"), machine("h100"), {{"TILE_K", bad}}), "", "", fmt::format("parameter 'TILE_K' is {}", bad));
  Kernel k = kernel("gemm_hopper");
  k.params[4].value = 0;
  expect(faults(k, machine("h100")), "gemm_hopper.json", "/params/4/value", "'TILE_K' is 0, expected 1 to");
}

TEST_CASE("a loop without trips is refused", "[core]") {
  Kernel k = kernel("attention_forward_hopper");
  k.loop.trips = expr("KV_LEN / KV - 1");
  expect(faults(k, machine("h100"), {{"KV_LEN", 128}}), "attention_forward_hopper.json", "/loop/trips", "is 0");
}

TEST_CASE("a length that is no multiple of the step is refused before it makes a loop without trips", "[core]") {
  Kernel k = kernel("attention_block_sparse_hopper");
  expect(faults(k, machine("h100"), {{"KV_LEN", 64}}), "attention_block_sparse_hopper.json", "/conditions/0",
         "KV_LEN % KV == 0 does not hold");
  k.conditions.clear();
  expect(faults(k, machine("h100"), {{"KV_LEN", 64}}), "attention_block_sparse_hopper.json", "/loop/trips", "leaves a remainder");
}

TEST_CASE("a kind without a rule is named", "[core]") {
  Machine m = machine("h100");
  m.rules.erase(m.rules.begin() + static_cast<std::ptrdiff_t>(index_of(m, "reduce_max")));
  const Kernel k = kernel("attention_forward_hopper");
  const auto found = faults(k, m);
  expect(found, "attention_forward_hopper.json", fmt::format("/body/{}/kind", file_index(k, "max0")),
         "no cost rule for kind 'reduce_max' of op 'max0'");
  CHECK(found.size() == 2);
}

TEST_CASE("groups that reach tensor memory through registers have four warps", "[core]") {
  const auto with = [&](const char* op, int warps) {
    Kernel k = kernel("attention_forward_blackwell");
    k.body[body_index(k, op)].cost = CostOverride{};
    k.body[body_index(k, op)].cost->warps = Expr(warps);
    return faults(k, machine("b200"));
  };
  for (const auto& [op, warps] : {std::pair("read_s0", 8), {"write_o1", 1}, {"exp0", 8}}) {
    const std::string pointer = fmt::format("/body/{}", file_index(kernel("attention_forward_blackwell"), op));
    expect(with(op, warps), "attention_forward_blackwell.json", pointer, fmt::format("op '{}' needs {} warps", op, warps));
  }
}

TEST_CASE("an unknown unit is named, in a rule and in a kernel's own cost", "[core]") {
  Machine m = machine("h100");
  m.rules[index_of(m, "exp2")].uses[0].unit = "MUFFU";
  expect(faults(kernel("attention_forward_hopper"), m), "h100.json", fmt::format("/rules/{}/uses/0/unit", index_of(m, "exp2")),
         "did you mean 'MUFU'?");
  Kernel k = kernel("toy_fig1");
  k.body[1].cost = CostOverride{};
  k.body[1].cost->uses = std::vector<UnitCost>{{"TC", Expr(0), Expr(1), Expr(1)}, {"ECP", Expr(0), Expr(1), Expr(1)}};
  expect(faults(k, machine("toy")), "toy_fig1.json", "/body/1/cost/uses/1/unit", "op 'P' uses unit 'ECP'");
}

TEST_CASE("costs that are negative, absurd, or cannot be computed are refused where their formula stands", "[core]") {
  const Kernel k = kernel("attention_forward_hopper");
  const auto broken = [&](const std::string& formula) {
    Machine m = machine("h100");
    m.rules[index_of(m, "exp2")].latency = expr(formula);
    return faults(k, m);
  };
  const std::string pointer = fmt::format("/rules/{}/latency", index_of(machine("h100"), "exp2"));
  expect(broken("0 - elems"), "h100.json", pointer, "is -64 (\"0 - elems\"), expected 0 to 2147483648");
  expect(broken("elems * 10000000"), "h100.json", pointer, "expected 0 to 2147483648");
  expect(broken("elems * 9000000000000000000"), "h100.json", pointer, "does not fit 64 bits");
  expect(broken("elems / (cols - cols)"), "h100.json", pointer, "division by zero");
  expect(broken("elem / 16"), "h100.json", pointer, "did you mean 'elems'?");
  expect(broken("N"), "h100.json", pointer, "unknown name 'N'");
}

TEST_CASE("an op that takes more of a unit than there is can never run", "[core]") {
  Machine m = machine("h100");
  m.rules[index_of(m, "mma.ss")].uses[1].amount = Expr(80);
  const auto found = faults(kernel("gemm_hopper"), m);
  expect(found, "h100.json", fmt::format("/rules/{}/uses/1/amount", index_of(m, "mma.ss")),
         "op 'MMA0' uses 80 of unit 'SMEM', which has 1");
}

TEST_CASE("a tile larger than the memory it lives in is refused", "[core]") {
  const Kernel k = kernel("gemm_hopper");
  expect(faults(k, machine("h100"), {{"TILE_K", 1024}}), "gemm_hopper.json", fmt::format("/values/{}", value_index(k, "b")),
         "value 'b' has 524288 bytes, shared memory of machine 'h100' holds 232448");
  const Kernel b = kernel("gemm_blackwell");
  expect(faults(b, machine("b200"), {{"TILE_N", 1024}}), "gemm_blackwell.json", fmt::format("/values/{}", value_index(b, "c")),
         "takes 1024 columns, tensor memory of machine 'b200' has 512");
}

TEST_CASE("a kernel with tensor memory does not fit a machine without", "[core]") {
  const Kernel k = kernel("gemm_blackwell");
  expect(faults(k, machine("h100")), "gemm_blackwell.json", fmt::format("/values/{}", value_index(k, "c")),
         "tensor memory, which machine 'h100' does not have");
}

TEST_CASE("a register tile that no thread can hold is refused", "[core]") {
  const Kernel k = kernel("gemm_hopper");
  expect(faults(k, machine("h100"), {{"TILE_N", 1024}}), "gemm_hopper.json", fmt::format("/values/{}", value_index(k, "c0")),
         "512 registers in each of 128 threads");
  expect(faults(k, machine("b200")), "gemm_hopper.json", fmt::format("/values/{}", value_index(k, "c0")), "belongs into tensor memory");
}

TEST_CASE("residents that do not fit together are refused", "[core]") {
  Machine m = machine("h100");
  m.limits.smem_bytes = 65536;
  Kernel k = kernel("attention_forward_hopper");
  k.values[value_index(k, "q0")].shape[0] = Expr(512);
  for (const char* name : {"s0", "x0", "p0", "ph0", "r0", "o0", "n0", "h0", "out0"}) k.values[value_index(k, name)].shape[0] = Expr(512);
  k.values[value_index(k, "s0")].registers = Expr(1);
  for (const char* name : {"x0", "p0", "ph0", "r0", "o0"}) k.values[value_index(k, name)].registers = Expr(1);
  expect(faults(k, m), "attention_forward_hopper.json", "/values", "stay on chip for the whole loop take 147456 bytes of shared memory");
}

TEST_CASE("ops wider than the CTA and values without positive shape are refused", "[core]") {
  Machine m = machine("h100");
  m.rules[index_of(m, "exp2")].warps = Expr(64);
  const Kernel k = kernel("attention_forward_hopper");
  expect(faults(k, m), "attention_forward_hopper.json", fmt::format("/body/{}", file_index(k, "exp0")),
         "needs 64 warps, a CTA on machine 'h100' has at most 32");
  Kernel bad = kernel("gemm_hopper");
  bad.values[2].shape[0] = expr("TILE_K - 64");
  expect(faults(bad, machine("h100")), "gemm_hopper.json", "/values/2/shape/0", "extent 0 of value 'b' is 0 (\"TILE_K - 64\")");
}

TEST_CASE("sizes that overflow are refused, never wrapped", "[core]") {
  Kernel k = kernel("gemm_hopper");
  k.values[2].shape = {Expr(1 << 30), Expr(1 << 30)};
  expect(faults(k, machine("h100")), "gemm_hopper.json", "/values/2/shape", "no tile is larger than 2 GiB");
  k.values[2].shape = {expr("TILE_K * 9000000000000000000"), Expr(kHuge)};
  const auto found = faults(k, machine("h100"));
  expect(found, "gemm_hopper.json", "/values/2/shape/0", "does not fit 64 bits");
  expect(found, "gemm_hopper.json", "/values/2/shape/1", "expected 1 to 2147483648");
  k.values[2].shape.assign(6, Expr(std::int64_t{1} << 31));
  expect(faults(k, machine("h100")), "gemm_hopper.json", "/values/2/shape", "no tile is larger than 2 GiB");
}

TEST_CASE("mma operands must fit each other", "[core]") {
  Kernel k = kernel("gemm_hopper");
  k.values[2].shape[0] = Expr(32);
  const auto found = faults(k, machine("h100"));
  expect(found, "gemm_hopper.json", fmt::format("/body/{}", file_index(k, "MMA0")), "A gives K = 64, B gives K = 32");
  Kernel out = kernel("gemm_hopper");
  out.values[value_index(out, "c1")].shape[1] = Expr(64);
  expect(faults(out, machine("h100")), "gemm_hopper.json", fmt::format("/body/{}", file_index(out, "MMA1")),
         "the output is 64 x 64, expected M x N = 64 x 256");
}

TEST_CASE("ops that wait for each other within one iteration are named in a circle", "[core]") {
  Kernel k = kernel("toy_fig1");
  k.order.push_back({"O", "S", std::nullopt, 0});
  const auto found = faults(k, machine("toy"));
  expect(found, "toy_fig1.json", "/body/0", "S -> P -> O -> S");
}

TEST_CASE("one copy of storage must not be overwritten while it may still be read", "[core]") {
  // The read of O is no longer before the write of R: rescale takes its input from elsewhere.
  Kernel k = kernel("attention_forward_blackwell");
  k.body[body_index(k, "rescale0")].inputs[0] = {"p0", 0};
  const auto found = faults(k, machine("b200"));
  expect(found, "attention_forward_blackwell.json", fmt::format("/values/{}", value_index(k, "O0")),
         "op 'write_o0' overwrites the storage of value 'O0' while op 'read_o0' may still use it");
  expect(found, "attention_forward_blackwell.json", fmt::format("/values/{}", value_index(k, "O0")),
         "add an order edge from 'read_o0' to 'write_o0'");
  // P over S, likewise.
  Kernel p = kernel("attention_forward_blackwell");
  p.body[body_index(p, "write_p1")].inputs[0] = {"ph0", 0};
  expect(faults(p, machine("b200")), "attention_forward_blackwell.json", fmt::format("/values/{}", value_index(as_in_file(p), "S1")),
         "while op 'read_s1' may still use it");
  // An order edge corrects it.
  k.order.push_back({"read_o0", "write_o0", std::nullopt, 0});
  CHECK(resolve(k, machine("b200")));
}

TEST_CASE("tensor memory accumulates in place, so both names must share storage", "[core]") {
  Kernel k = kernel("attention_forward_blackwell");
  k.values[value_index(k, "R0")].alias_of.clear();
  expect(faults(k, machine("b200")), "attention_forward_blackwell.json", fmt::format("/body/{}/out/0", file_index(k, "PV0")),
         "accumulates in place");
}

TEST_CASE("an alias must fit into the storage it shares, and not overwrite a loop invariant", "[core]") {
  Kernel k = kernel("attention_forward_blackwell");
  k.values[value_index(k, "P0")].alias_of = "O0";
  k.values[value_index(k, "O0")].shape[1] = Expr(32);
  CHECK_FALSE(resolve(k, machine("b200")));
  Kernel q = kernel("attention_backward_hopper");
  q.values[value_index(q, "dsm0")].alias_of = "k0";
  expect(faults(q, machine("h100")), "attention_backward_hopper.json", fmt::format("/values/{}", value_index(q, "k0")),
         "loop invariant 'k0' shares storage");
}

TEST_CASE("parts of one storage that do not overlap need no order", "[core]") {
  const Kernel parts = kernel("attention_forward_parts_blackwell");
  REQUIRE(resolve(parts, machine("b200")));
  const std::size_t second = value_index(parts, "P0b");
  // 96 keys of P in bf16 take 48 columns.
  for (const std::int64_t first : {47, 0}) {
    Kernel k = parts;
    k.values[second].alias_at = Expr(first);
    expect(faults(k, machine("b200")), "attention_forward_parts_blackwell.json", fmt::format("/values/{}", value_index(k, "P0a")),
           "op 'write_p0b' overwrites the storage of value 'P0a' while op 'PV0a' may still use it");
  }
  for (const std::int64_t first : {49, 112}) {
    Kernel k = parts;
    k.values[second].alias_at = Expr(first);
    CHECK(resolve(k, machine("b200")));
  }
  Kernel behind = parts;
  behind.values[second].alias_at = Expr(113);
  expect(faults(behind, machine("b200")), "attention_forward_parts_blackwell.json", fmt::format("/values/{}", second),
         "value 'P0b' ends behind the end of 'S0', whose storage it shares: 129 of 128 columns of tensor memory");
  // What has its own storage begins nowhere else.
  Kernel own = parts;
  own.values[value_index(own, "S0")].alias_at = Expr(1);
  expect(faults(own, machine("b200")), "attention_forward_parts_blackwell.json", fmt::format("/values/{}/alias_at", value_index(own, "S0")),
         "expected alias_of beside alias_at");
}

TEST_CASE("absurd machines are refused", "[core]") {
  Machine m = machine("h100");
  m.limits.warps_per_cta = 0;
  m.limits.smem_bytes = kHuge;
  m.limits.register_granule = -8;
  m.units[0].capacity = 0;
  m.handoff.signal = Expr(-1);
  const auto found = faults(kernel("gemm_hopper"), m);
  expect(found, "h100.json", "/limits/warps_per_cta", "is 0, expected 1 to");
  expect(found, "h100.json", "/limits/smem_bytes", "expected 0 to");
  expect(found, "h100.json", "/limits/register_granule", "is -8");
  expect(found, "h100.json", "/units/0/capacity", "capacity of unit 'TC' is 0");
  expect(found, "h100.json", "/handoff/signal", "is -1");
  m = machine("h100");
  m.handoff.register_copy = expr("bytes * 1000000000000");
  expect(faults(kernel("gemm_hopper"), m), "h100.json", "/handoff/register_copy", "hand-off of value 'c0'");
}

TEST_CASE("too many ops, none at all, and structural mistakes are refused", "[core]") {
  Kernel k = kernel("toy_fig1");
  k.max_groups = 0;
  k.body[1].inputs[0].value = "z";
  const auto found = faults(k, machine("toy"));
  expect(found, "toy_fig1.json", "/max_groups", "expected at least 1");
  expect(found, "toy_fig1.json", "/body/1/in/0", "unknown value 'z'");
  Kernel many = kernel("toy_fig1");
  while (many.body.size() <= 2000) many.body.push_back(many.body[0]);
  expect(faults(many, machine("toy")), "toy_fig1.json", "/body", "2001 ops, at most 2000");
  Kernel none = kernel("toy_fig1");
  none.body.clear();
  expect(faults(none, machine("toy")), "toy_fig1.json", "/body", "nothing to schedule");
}

TEST_CASE("distances outside reason are refused", "[core]") {
  Kernel k = kernel("toy_fig1");
  k.body[2].inputs[2].distance = std::numeric_limits<int>::max();
  expect(faults(k, machine("toy")), "toy_fig1.json", "/body/2/in/2", "outside 0 to");
  k = kernel("toy_fig1");
  k.order.push_back({"O", "S", std::nullopt, -1});
  expect(faults(k, machine("toy")), "toy_fig1.json", "/order/0/distance", "outside 0 to");
}

TEST_CASE("a long chain of aliases in a large body resolves quickly", "[core]") {
  Kernel k = kernel("toy_fig1");
  k.body.clear();
  k.epilogue.clear();
  k.order.clear();
  k.prologue.pop_back();
  k.values.resize(3);
  const int count = 1000;
  for (int i = 0; i < count; ++i) {
    k.values.push_back({fmt::format("t{}", i), DType::F32, {Expr(4), Expr(4)}, Space::Smem, i == 0 ? "" : "t0", Expr(0), std::nullopt});
    TileOp op;
    op.name = fmt::format("op{}", i);
    op.kind = "exp2";
    op.inputs = {{i == 0 ? "q" : fmt::format("t{}", i - 1), 0}};
    op.outputs = {fmt::format("t{}", i)};
    k.body.push_back(op);
  }
  const Result<Problem> p = resolve(k, machine("toy"));
  INFO((p ? "" : to_string(p.error())));
  REQUIRE(p);
  REQUIRE(p->channels.size() == 1);
  CHECK(p->channels[0].values.size() == 1000);
}
