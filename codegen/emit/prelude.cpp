// One line of PTX per wrapper. The instructions and their operands are those of PTX ISA 9.0.
#include "codegen/emit/prelude.h"

#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace heddle::codegen {

namespace {

constexpr std::string_view kPrelude = R"(typedef unsigned u32;
typedef unsigned long long u64;
struct alignas(64) TensorMap { u64 opaque[16]; };  // the 128 bytes of a CUtensorMap
#define DEVICE __device__ __forceinline__

DEVICE u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
DEVICE void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
DEVICE void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void arrive(u32 barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
DEVICE bool phase_over(u32 barrier, u32 parity) {
  u32 over;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
  return over;
}
DEVICE void wait(u32 barrier, u32 parity) {
  while (!phase_over(barrier, parity)) {}
}
DEVICE void wait_cluster(u32 barrier, u32 parity) {  // for arrivals of other blocks
  u32 over = 0;
  while (!over)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
}
/// At the barrier of the same address in block `rank` of the cluster.
DEVICE void arrive_at(u32 barrier, u32 rank) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
                   barrier), "r"(rank) : "memory");
}
/// All threads of all blocks of the cluster.
DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
template <int Id, int Threads> DEVICE void role_sync() { asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory"); }
template <int Id, int Threads> DEVICE void take_turn() { asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory"); }
template <int Id, int Threads> DEVICE void pass_turn() { asm volatile("bar.arrive %0, %1;" ::"n"(Id), "n"(Threads) : "memory"); }
DEVICE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int N> DEVICE void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> DEVICE void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }

DEVICE void prefetch_map(const TensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
DEVICE void tma_load(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(x), "r"(y) : "memory");
}
DEVICE void tma_load(u32 to, const TensorMap* map, int x, int y, int z, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory");
}
/// To the same address, and signalled at the same barrier, of every block in `blocks`.
DEVICE void tma_load_all(u32 to, const TensorMap* map, int x, int y, u32 barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(blocks) : "memory");
}
DEVICE void tma_load_all(u32 to, const TensorMap* map, int x, int y, int z, u32 barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(blocks) : "memory");
}
DEVICE void tma_store(const TensorMap* map, u32 from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from), "r"(x), "r"(y)
               : "memory");
}
DEVICE void tma_store(const TensorMap* map, u32 from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x),
               "r"(y), "r"(z) : "memory");
}
DEVICE void tma_add(const TensorMap* map, u32 from, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from), "r"(x),
               "r"(y) : "memory");
}
DEVICE void tma_add(const TensorMap* map, u32 from, int x, int y, int z) {
  asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from),
               "r"(x), "r"(y), "r"(z) : "memory");
}
DEVICE void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> DEVICE void store_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
DEVICE void store_wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

DEVICE void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEVICE void product_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
/// Uses of registers stay behind the wait that precedes this; no instruction.
template <int N> DEVICE void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i]) :: "memory");
}
/// What the registers hold is of no use any more, although a wgmma that does not add names them as input; no instruction.
template <int N> DEVICE void fresh(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "=f"(d[i]));
}
/// Registers that a wgmma in flight reads are not given to anything else before this; no instruction.
template <int N> DEVICE void keep(u32 (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(d[i]) :: "memory");
}
/// Holds `x` in a register here, so that what follows from it is computed where it is used and not before the loop; no instruction.
DEVICE void keep_in_register(u32& x) { asm volatile("" : "+r"(x)); }
/// Matrix descriptor of a tile with 128-byte swizzle.
DEVICE u64 matrix(u32 address, u32 leading, u32 stride) {
  return (u64)((address & 0x3FFFF) >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(stride >> 4) << 32) | (1ull << 62);
}

DEVICE u32 pack_bf16(float low, float high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
DEVICE u32 pack_f16(float low, float high) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
DEVICE float low_bf16(u32 x) { return __uint_as_float(x << 16); }
DEVICE float high_bf16(u32 x) { return __uint_as_float(x & 0xffff0000u); }
DEVICE float low_f16(u32 x) {
  float y;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(y) : "r"(x));
  return y;
}
DEVICE float high_f16(u32 x) {
  float y;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(y) : "r"(x));
  return y;
}
DEVICE float exp2_(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float log2_(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float recip_(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float rsqrt_(float x) { float y; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float sqrt_(float x) { float y; asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float tanh_(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float sigmoid_(float x) { return recip_(1.0f + exp2_(-1.44269504f * x)); }

DEVICE void store_matrices(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}
DEVICE void store_word(u32 a, float x) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(a), "f"(x) : "memory"); }
DEVICE void store_word(u32 a, u32 x) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(x) : "memory"); }
DEVICE void load_word(u32 a, float& x) { asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(a) : "memory"); }
DEVICE void load_word(u32 a, u32& x) { asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(a) : "memory"); }
DEVICE void store_pair(u32 a, float x, float y) { asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(a), "f"(x), "f"(y) : "memory"); }
DEVICE void store_words(u32 a, u32 x, u32 y, u32 z, u32 w) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}
DEVICE void load_words(u32 a, float& x, float& y) { asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(a) : "memory"); }
DEVICE void load_words(u32 a, u32& x, u32& y, u32& z, u32& w) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a) : "memory");
}
)";

/// The name that a definition gives: the word before its first parenthesis.
std::string_view name_of(std::string_view chunk) {
  const std::size_t start = chunk.find("DEVICE");
  const std::size_t end = start == std::string_view::npos ? start : chunk.find('(', start);
  if (end == std::string_view::npos) return {};
  std::size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(chunk[begin - 1])) || chunk[begin - 1] == '_')) --begin;
  return chunk.substr(begin, end - begin);
}

bool calls(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ', after = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    if (!std::isalnum(static_cast<unsigned char>(before)) && before != '_' && (after == '(' || after == '<')) return true;
  }
  return false;
}

}  // namespace

std::string prelude_text(std::string_view body) {
  // A definition is what lies between two lines that begin one; heads and comments belong to the next.
  std::vector<std::string> chunks;
  std::size_t at = 0;
  std::string open;
  while (at < kPrelude.size()) {
    const std::size_t end = kPrelude.find('\n', at) + 1;
    const std::string_view line = kPrelude.substr(at, end - at);
    at = end;
    open += line;
    const bool whole = line == "}\n" || line.starts_with("typedef") || line.starts_with("struct") || line.starts_with("#define") ||
                       (line.find("DEVICE") != std::string_view::npos && line.ends_with("}\n"));
    if (whole) chunks.push_back(std::exchange(open, {}));
  }
  std::string kept;
  for (std::size_t c = chunks.size(); c-- > 0;) {
    const std::string_view name = name_of(chunks[c]);
    if (name.empty() || calls(body, name) || calls(kept, name)) kept.insert(0, chunks[c]);
  }
  return kept;
}

std::string product_name(const ProductShape& shape) {
  return fmt::format("product_n{}_{}{}{}{}", shape.n, shape.a_registers ? "rs" : "ss", shape.a_mn_major ? "_ta" : "", shape.b_mn_major ? "_t" : "",
                     shape.f16 ? "_f16" : "");
}

std::string product_text(const ProductShape& shape) {
  const int count = shape.n / 2;
  const char* type = shape.f16 ? "f16" : "bf16";
  std::string text = fmt::format("/// D += A B, m64n{}k16; `add` 0: D = A B.\nDEVICE void {}(float (&d)[{}], {}, u64 b, int add) {{\n", shape.n,
                                 product_name(shape), count, shape.a_registers ? "u32 a0, u32 a1, u32 a2, u32 a3" : "u64 a");
  const int a = count, b = shape.a_registers ? a + 4 : a + 1, p = b + 1;
  text += fmt::format("  asm volatile(\"{{ .reg .pred p; setp.ne.b32 p, %{}, 0;\\n\"\n", p);
  text += fmt::format("      \"wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{}\\n\"\n      \"{{", shape.n, type, type);
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % 16 == 0) text += "\"\n      \"";
    text += fmt::format("%{}{}", i, i + 1 < count ? "," : "");
  }
  if (shape.a_registers)
    text += fmt::format("}},\\n\"\n      \"{{%{}, %{}, %{}, %{}}}, %{}, p, 1, 1, {}; }}\"\n", a, a + 1, a + 2, a + 3, b, shape.b_mn_major ? 1 : 0);
  else
    text += fmt::format("}},\\n\"\n      \"%{}, %{}, p, 1, 1, {}, {}; }}\"\n", a, b, shape.a_mn_major ? 1 : 0, shape.b_mn_major ? 1 : 0);
  text += "      : ";
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % 8 == 0) text += "\n        ";
    text += fmt::format("\"+f\"(d[{}]){}", i, i + 1 < count ? ", " : "\n");
  }
  text += shape.a_registers ? "      : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"l\"(b), \"r\"(add));\n}\n" : "      : \"l\"(a), \"l\"(b), \"r\"(add));\n}\n";
  return text;
}

}  // namespace heddle::codegen
