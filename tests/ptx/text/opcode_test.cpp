// The table of PTX instructions: which row a mnemonic is, and which registers each kind of instruction reads and writes.
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

#include "ptx/text/opcode.h"
#include "ptx/text/parse.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

Opcode opcode_of(std::string_view mnemonic) {
  const OpcodeRow* row = find_opcode(mnemonic);
  return row ? row->opcode : Opcode::Unknown;
}

using Names = std::multiset<std::string>;

struct Touched {
  Names read, written;
};

Touched touched(const std::string& instruction) {
  const auto module =
      parse(".entry k() {\n.reg .b32 r<20>; .reg .b64 d<20>; .reg .f32 f<20>; .reg .pred p<9>;\n" + instruction + "\n}", "test.ptx");
  REQUIRE(module.ok());
  const PtxFunction& function = module->functions[0];
  INFO(instruction);
  CHECK(function.code[0].fault == "");
  const TouchedRegisters registers = registers_of(function.code[0]);
  Touched names;
  for (const RegisterId reg : registers.read) names.read.emplace(function.registers[reg.index()].name);
  for (const RegisterId reg : registers.written) names.written.emplace(function.registers[reg.index()].name);
  return names;
}

}  // namespace

TEST_CASE("each row of the table is found by its own words, and every opcode has one", "[ptx]") {
  std::set<Opcode> seen;
  for (const OpcodeRow& row : opcode_rows()) {
    INFO(row.words);
    REQUIRE(find_opcode(row.words));
    CHECK(find_opcode(row.words)->words == row.words);
    CHECK(row.section.starts_with("9.7."));
    seen.insert(row.opcode);
  }
  CHECK(seen.size() == static_cast<std::size_t>(Opcode::ClcTryCancel));  // all but Unknown
}

TEST_CASE("the longest beginning of a mnemonic is what it is", "[ptx]") {
  CHECK(opcode_of("add.s32") == Opcode::Add);
  CHECK(opcode_of("addc.cc.u32") == Opcode::Addc);
  CHECK(opcode_of("adder") == Opcode::Unknown);
  CHECK(opcode_of("cp.async.ca.shared.global") == Opcode::CpAsync);
  CHECK(opcode_of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes") == Opcode::CpAsyncBulk);
  CHECK(opcode_of("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group") == Opcode::CpAsyncBulkTensor);
  CHECK(opcode_of("cp.async.bulk.prefetch.tensor.2d.L2.global") == Opcode::CpAsyncBulkPrefetch);
  CHECK(opcode_of("cp.async.bulk.wait_group.read") == Opcode::CpAsyncBulkWait);
  CHECK(opcode_of("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group") == Opcode::CpReduceAsyncBulkTensor);
  CHECK(opcode_of("cp.async.mbarrier.arrive.noinc.shared.b64") == Opcode::CpAsyncMbarrierArrive);
  CHECK(opcode_of("mbarrier.arrive.expect_tx.shared::cta.b64") == Opcode::MbarrierArrive);
  CHECK(opcode_of("mbarrier.arrive_drop.shared.b64") == Opcode::MbarrierArriveDrop);
  CHECK(opcode_of("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64") == Opcode::MbarrierTryWait);
  CHECK(opcode_of("barrier.cluster.arrive.relaxed.aligned") == Opcode::BarrierClusterArrive);
  CHECK(opcode_of("barrier.cta.sync.aligned") == Opcode::Bar);
  CHECK(opcode_of("bar.warp.sync") == Opcode::BarWarpSync);
  CHECK(opcode_of("bar.red.popc.u32") == Opcode::BarRed);
  CHECK(opcode_of("tcgen05.fence::before_thread_sync") == Opcode::Tcgen05Fence);
  CHECK(opcode_of("tcgen05.mma.ws.sp.cta_group::1.kind::f16") == Opcode::Tcgen05MmaWs);
  CHECK(opcode_of("tcgen05.mma.sp.cta_group::1.kind::f16") == Opcode::Tcgen05Mma);
  CHECK(opcode_of("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16") == Opcode::WgmmaMmaSparse);
  CHECK(opcode_of("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32") == Opcode::MmaSparse);
  CHECK(opcode_of("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64") == Opcode::StAsync);
  CHECK(opcode_of("st.shared::cta.b32") == Opcode::St);
  CHECK(opcode_of("fence.proxy.async.shared::cta") == Opcode::Fence);
  CHECK(opcode_of("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128") == Opcode::ClcQueryCancel);
  CHECK(opcode_of("tex.2d.v4.f32.f32") == Opcode::Unknown);
  CHECK(opcode_of("") == Opcode::Unknown);
  CHECK(opcode_of(std::string(100000, 'a')) == Opcode::Unknown);
}

TEST_CASE("registers that an instruction reads and writes are told apart", "[ptx]") {
  const auto check = [](const std::string& instruction, const Names& read, const Names& written) {
    INFO(instruction);
    const Touched names = touched(instruction);
    CHECK(names.read == read);
    CHECK(names.written == written);
  };
  check("add.s32 r1, r2, r3;", {"r2", "r3"}, {"r1"});
  check("add.s32 r1, r1, r1;", {"r1", "r1"}, {"r1"});
  check("mov.b64 {r1, r2}, d1;", {"d1"}, {"r1", "r2"});
  check("mov.b64 d1, {r1, r2};", {"r1", "r2"}, {"d1"});
  check("setp.eq.and.s32 p1|p2, r1, r2, !p3;", {"r1", "r2", "p3"}, {"p1", "p2"});
  check("shfl.sync.idx.b32 r1|p1, r2, r3, 31, -1;", {"r2", "r3"}, {"r1", "p1"});
  check("elect.sync r1|p1, -1;", {}, {"r1", "p1"});
  check("ld.shared.v2.b32 {r1, r2}, [r3+8];", {"r3"}, {"r1", "r2"});
  check("st.shared.v2.b32 [r3], {r1, r2};", {"r1", "r2", "r3"}, {});
  check("atom.global.add.u32 r1, [d1], r2;", {"d1", "r2"}, {"r1"});
  check("red.global.add.u32 [d1], r2;", {"d1", "r2"}, {});
  check("mbarrier.arrive.shared.b64 d1, [r1];", {"r1"}, {"d1"});
  check("mbarrier.arrive.shared.b64 _, [r1], r2;", {"r1", "r2"}, {});
  check("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r1];", {"r1"}, {});
  check("mbarrier.try_wait.parity.shared.b64 p1, [r1], r2;", {"r1", "r2"}, {"p1"});
  check("mbarrier.init.shared.b64 [r1], r2;", {"r1", "r2"}, {});
  check("bar.sync r1, r2;", {"r1", "r2"}, {});
  check("bar.red.and.pred p1, r1, p2;", {"p2", "r1"}, {"p1"});
  check("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {f1, f2}, {r1, r2}, d1, p1, 1, 1, 0;", {"f1", "f2", "r1", "r2", "d1", "p1"},
        {"f1", "f2"});
  check("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f1, f2}, {r1}, {r2}, {f3, f4};", {"r1", "r2", "f3", "f4"}, {"f1", "f2"});
  check("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r1, r2}, [r3];", {"r3"}, {"r1", "r2"});
  check("stmatrix.sync.aligned.m8n8.x2.shared.b16 [r3], {r1, r2};", {"r1", "r2", "r3"}, {});
  check("tcgen05.ld.sync.aligned.32x32b.x2.b32 {r1, r2}, [r3];", {"r3"}, {"r1", "r2"});
  check("tcgen05.st.sync.aligned.32x32b.x2.b32 [r3], {r1, r2};", {"r1", "r2", "r3"}, {});
  check("tcgen05.mma.cta_group::1.kind::f16 [r1], d1, d2, r2, p1;", {"r1", "d1", "d2", "r2", "p1"}, {});
  check("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [d1], r2, [r3];", {"r1", "d1", "r2", "r3"}, {});
}
