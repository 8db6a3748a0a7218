#include "codegen/calibrate/micro.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "codegen/calibrate/body.h"
#include "codegen/device/device.h"
#include "codegen/emit/product.h"
#include "codegen/emit/tensor_move.h"
#include "core/base/integer_division.h"
#include "core/base/quantile.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kRows = 64;  ///< of a warpgroup's tile
constexpr int kMicroSharedBytes = 128 * 1024;
constexpr int kBarrierAt = 96 * 1024;  ///< shared memory: operands below, barriers here
constexpr int kSkipped = 3;            ///< first repeats, with cold instruction cache

/// A function of the repeat r, as text.
std::string function(const char* name, const std::string& body) {
  return fmt::format("  const auto {} = [&](int r) {{\n{}  }};\n", name, body);
}

}  // namespace

namespace {

/// What rules call `port`: micro-kernels lie so that no lanes meet, and mmas read 32 bytes of each row of A and column of B per step.
void name_port(const std::string& rule, Scope& dims) {
  const auto of = [&](const char* name) {
    const auto it = dims.find(name);
    return it == dims.end() ? std::int64_t{0} : it->second;
  };
  std::int64_t port = ceil_div(of("bytes"), 128);
  if (of("N") > 0) {
    const std::int64_t rows = rule.ends_with(".ss") ? ceil_div(of("M"), 4) : 0;
    port = ceil_div(of("K") * of("bits"), 256) * (rows + ceil_div(of("N"), 4));
  }
  dims.try_emplace("port", port);
  dims.try_emplace("port_least", port);
  dims.try_emplace("shuffles", 0);
}

}  // namespace

MicroKernel micro_kernel(std::string rule, Scope dims, const MicroBody& body, MicroKernel::Method method, DType scratch) {
  MicroKernel kernel;
  kernel.method = method;
  kernel.rule = std::move(rule);
  kernel.dims = std::move(dims);
  kernel.scratch = scratch;
  kernel.launch.entry = kMicroEntry;
  kernel.groups = body.groups;
  kernel.launch.threads = body.threads * body.groups;
  kernel.launch.smem_bytes = kMicroSharedBytes;
  kernel.launch.tiles = 1;
  std::string arguments;
  if (body.map) {
    kernel.launch.maps.push_back({0, {kScratchSide, kScratchSide}, body.box, false});
    arguments += "const __grid_constant__ TensorMap map, ";
  }
  if (body.pointer) {
    kernel.launch.pointers.push_back(0);
    arguments += "unsigned char* memory, ";
  }
  std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1)\n{}({}u64* out) {{\n", kernel.launch.threads,
                                 kMicroEntry, arguments);
  text +=
      "  extern __shared__ __align__(1024) unsigned char shared[];\n"
      "  const u32 smem = shared_address(shared);\n"
      "  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;\n"
      "  (void)smem, (void)lane, (void)warp;\n";
  text += body.setup + "  __syncthreads();\n";
  if (body.groups > 1)
    text += function("second", body.op) + function("first", "    if (warp < 4) second(r);\n");
  else
    text += function("first", body.op);
  text += function("first_there", body.settle);
  if (!body.burst.empty()) text += function("second", body.burst);
  if (!body.burst_settle.empty()) text += function("second_there", body.burst_settle);
  const char* second = body.burst.empty() && body.groups == 1 ? "first" : "second";
  const char* second_there = body.burst_settle.empty() ? "first_there" : "second_there";
  if (method == MicroKernel::Method::Single) {
    text += fmt::format("  time_single<{}, {}>(out, first, first_there, {}, {});\n", kMicroRepeats, kMicroBurst, second, second_there);
  } else {
    const std::string frame = fmt::format("time_loop<{}>", kMicroPasses);
    text += fmt::format("  {0}(out, first, first_there);\n  {0}(out + 1, {1}, {2});\n", frame, second, second_there);
    if (!body.chain.empty())
      text += function("third", body.chain) + function("third_there", body.chain_settle) +
              fmt::format("  {}(out + 2, third, third_there);\n", frame);
  }
  text += body.sink + "}\n";
  std::string sizes;
  for (const auto& [name, value] : kernel.dims) sizes += fmt::format(" {}={}", name, value);
  const std::string helpers = body.products + text;
  kernel.source = fmt::format("// {}:{}; written by heddle calibrate\n", kernel.rule, sizes) + device_text(helpers) + "\n" + helpers;
  name_port(kernel.rule, kernel.dims);
  return kernel;
}

MicroBody shared_moves(std::int64_t words, bool store, const std::string& place, const std::string& moves) {
  MicroBody body;
  body.groups = 4;
  body.setup =
      fmt::format("  u32 w[{0}], all = 0;\n  (void)all;\n#pragma unroll\n  for (int i = 0; i < {0}; ++i) w[i] = tid + i;\n", words);
  body.op = fmt::format("    const u32 at = {} + (r & 1) * 32768;\n{}", place, moves);
  if (!store) body.op += fmt::format("#pragma unroll\n    for (int i = 0; i < {}; ++i) all ^= w[i];\n", words);
  // Of bytes alone ptxas knows that they never make the word that settle() looks for, and leaves their loads out.
  body.settle = store ? "    fence_async();\n" : "    settle(all * 0x9e3779b1u);\n";
  body.burst_settle = body.settle + "    __syncthreads();\n";
  return body;
}

namespace {

/// Sizes of a register tile of 64 rows and n columns.
Scope tile_dims(std::int64_t n, std::int64_t inputs, std::int64_t bits = 32) {
  const std::int64_t elems = kRows * n;
  return {{"rows", kRows},
          {"cols", n},
          {"elems", elems},
          {"in_elems", elems},
          {"out_elems", elems},
          {"bits", bits},
          {"inputs", inputs},
          {"bytes", elems * bits / 8},
          {"in_bytes", elems * bits / 8},
          {"columns", n}};
}

/// "    for (int i = 0; i < count; ++i) statement"
std::string unrolled(std::int64_t count, const std::string& statement, int step = 1) {
  return fmt::format("#pragma unroll\n    for (int i = 0; i < {}; i += {}) {}\n", count, step, statement);
}

/// The three loops of MicroKernel::Method::Chain, of a tile and an element, and of what they are the second time.
void chain_loops(MicroBody& body, const std::string& tile, const std::string& next_tile, const std::string& element,
                 const std::string& next_element) {
  body.op = tile + next_tile;
  body.burst = tile;
  body.chain =
      fmt::format("#pragma unroll\n    for (int again = 0; again < {}; ++again) {{\n{}{}    }}\n", kMicroChain / 2, element, next_element);
}

struct ElementRule {
  const char *rule, *formula;  ///< of x[i]
  /// The same instruction, every other time, where ptxas makes less than two of the formula twice: a maximum of three instead of two
  /// maxima (sm_100a). Empty: `formula`.
  const char* next = "";
};

/// x[i] = formula of x[i]; every element of a thread's part of the tile, then one element alone.
MicroKernel elements(const ElementRule& rule, std::int64_t n, std::int64_t inputs = 1) {
  MicroBody body;
  const std::int64_t count = n / 2;
  body.setup = fmt::format("  float x[{0}], z[1];\n  z[0] = 0.5f + 0.001f * (float)tid;\n", count) +
               unrolled(count, "x[i] = 0.5f + 0.001f * (float)(tid + i);");
  body.settle = fmt::format("    settle(x[{}]);\n", count - 1);
  const char* next = *rule.next != 0 ? rule.next : rule.formula;
  const auto tile = [&](const char* formula) { return unrolled(count, fmt::format("x[i] = {};", formula)) + "      pin(x);\n"; };
  const auto element = [&](std::string formula) {
    for (std::size_t at = 0; (at = formula.find("x[i]", at)) != std::string::npos;) formula.replace(at, 4, "z[0]");
    return fmt::format("      z[0] = {};\n      pin(z);\n", formula);
  };
  chain_loops(body, tile(rule.formula), tile(next), element(rule.formula), element(next));
  body.chain_settle = "    settle(z[0]);\n";
  body.sink = "  float sum = z[0];\n" + unrolled(count, "sum += x[i];") + "  settle(sum);\n";
  MicroKernel kernel = micro_kernel(rule.rule, tile_dims(n, inputs), body, MicroKernel::Method::Chain);
  kernel.elements = count;
  return kernel;
}

/// What a reduction folds two numbers with: "+", or a function of them.
const char* fold_of(std::string_view kind) { return kind == "reduce_sum" ? "+" : kind == "reduce_max" ? "fmaxf" : "fminf"; }

/// A value of all elements and the last result, so that every element takes part in every pass. By the unit that folds them: what
/// another unit does at the same time would hide a part of the fold.
std::string feed_of(std::string_view how, const std::string& result) {
  return how == "+" ? fmt::format("x[i] = x[i] * 0.5f + {};", result)
                    : fmt::format("x[i] = {}(x[i], {});", how == "fminf" ? "fmaxf" : "fminf", result);
}

/// A loop that only feeds is taken off.
MicroKernel reduction(const std::string& rule, std::int64_t n) {
  MicroBody body;
  const std::int64_t count = n / 2;
  const std::string_view how = fold_of(rule);
  const auto fold = [&](std::string a, std::string b) {
    return how == "+" ? fmt::format("{} + {}", a, b) : fmt::format("{}({}, {})", how, a, b);
  };
  const auto assign = [&](const char* y, std::string value) { return fmt::format("{} = {};", y, value); };
  body.setup = fmt::format("  float x[{0}], y[2] = {{0.0f, 0.0f}};\n", count) + unrolled(count, "x[i] = 0.5f + 0.001f * (float)(tid + i);");
  const std::string feed = unrolled(count, feed_of(how, "y[i / 2 % 2]")) + "      pin(x);\n";
  body.op =
      feed + "      " + assign("y[0]", fold("x[0]", "x[1]")) + "\n      " + assign("y[1]", fold("x[2]", "x[3]")) + "\n" +
      fmt::format("#pragma unroll\n    for (int i = 4; i < {}; i += 4) {{ {} {} }}\n", count,
                  assign("y[0]", fold("y[0]", fold("x[i]", "x[i + 1]"))), assign("y[1]", fold("y[1]", fold("x[i + 2]", "x[i + 3]")))) +
      fmt::format("#pragma unroll\n    for (int s = 1; s < 4; s *= 2) {{ {} {} }}\n      pin(y);\n",
                  assign("y[0]", fold("y[0]", "__shfl_xor_sync(0xffffffff, y[0], s)")),
                  assign("y[1]", fold("y[1]", "__shfl_xor_sync(0xffffffff, y[1], s)")));
  body.settle = "    settle(y[0] + y[1]);\n";
  body.burst = feed + "      y[0] = x[0];\n      y[1] = x[2];\n      pin(y);\n";
  body.burst_settle = body.settle;
  body.sink = "  float sum = y[0] + y[1];\n" + unrolled(count, "sum += x[i];") + "  settle(sum);\n";
  Scope dims = tile_dims(n, 1);
  dims["out_elems"] = kRows, dims["bytes"] = 4 * kRows;
  return micro_kernel(rule, std::move(dims), body, MicroKernel::Method::Beside);
}

/// A word that two elements were packed into is one of the next two.
MicroKernel conversion(const std::string& rule, std::int64_t n) {
  MicroBody body;
  const std::int64_t words = n / 4;
  body.setup = fmt::format("  u32 w[{0}], z[1];\n  z[0] = 0x3f800000u + tid;\n  const float other = 0.5f + 0.001f * (float)tid;\n", words) +
               unrolled(words, "w[i] = 0x3f800000u + tid + i;");
  const std::string tile = unrolled(words, "w[i] = pack_bf16(__uint_as_float(w[i]), other);") + "      keep(w);\n";
  const std::string word = "      z[0] = pack_bf16(__uint_as_float(z[0]), other);\n      keep(z);\n";
  chain_loops(body, tile, tile, word, word);
  body.settle = fmt::format("    settle(w[{}]);\n", words - 1);
  body.chain_settle = "    settle(z[0]);\n";
  body.sink = "  u32 sum = z[0];\n" + unrolled(words, "sum ^= w[i] * 3u;") + "  settle(sum);\n";
  Scope dims = tile_dims(n, 1);
  dims["bytes"] = 2 * kRows * n;
  MicroKernel kernel = micro_kernel(rule, std::move(dims), body, MicroKernel::Method::Chain);
  kernel.elements = words;
  return kernel;
}

MicroKernel product(const std::string& rule, std::int64_t n, std::int64_t k, bool from_registers) {
  MicroBody body;
  const ProductShape shape{static_cast<int>(n), from_registers, false, true};
  body.products = product_text(shape);
  body.setup =
      fmt::format("  float d[{0}];\n#pragma unroll\n  for (int i = 0; i < {0}; ++i) d[i] = 0.0f;\n  const u32 b = smem + 16384 * {1};\n",
                  n / 2, k / 64);
  // Operands from the tile's own bytes: small numbers, not zeros.
  body.setup += fmt::format(
      "  for (int i = tid; i < {}; i += 128) store_word(smem + 4 * i, 0x3c003c00u + (u32)(i * 2654435761u >> 20));\n  fence_async();\n",
      (16384 * (k / 64) + k * n * 2) / 4);
  if (from_registers)
    body.setup += fmt::format("  u32 a[{0}];\n#pragma unroll\n  for (int i = 0; i < {0}; ++i) a[i] = 0x3c003c00u + tid + i;\n", k / 4);
  const std::string b_tile = fmt::format("matrix(b + k * 2048, {})", k * 128);
  const std::string a_tile =
      from_registers ? "a[4 * k], a[4 * k + 1], a[4 * k + 2], a[4 * k + 3]" : "matrix(smem + k / 4 * 8192 + k % 4 * 32, 16)";
  body.op = fmt::format("    product_fence();\n#pragma unroll\n    for (int k = 0; k < {}; ++k) {}(d, {}, {}, 1);\n    product_commit();\n",
                        k / 16, product_name(shape), a_tile, b_tile);
  body.settle = fmt::format("    product_wait<0>();\n    pin(d);\n{}", from_registers ? "    keep(a);\n" : "");
  body.sink = "  float sum = 0.0f;\n" + unrolled(n / 2, "sum += d[i];") + "  settle(sum);\n";
  Scope dims = tile_dims(n, 3, 16);
  dims["M"] = kRows, dims["N"] = n, dims["K"] = k;
  return micro_kernel(rule, std::move(dims), body);
}

/// Waits for, and uses, every word.
std::string all_there(std::int64_t words) {
  return "    {\n    u32 all = 0;\n" + unrolled(words, "all ^= w[i];") + "    settle(all);\n    }\n";
}

/// Swizzled panels of a bf16 tile by stmatrix, or words by ld.shared.
MicroKernel shared_tile(const std::string& rule, std::int64_t n, bool store) {
  const std::int64_t words = n / 4;
  const std::string move = store ? "store_matrices(at + j / 4 * 8192 + row * 128 + (((j % 4 * 2 + (lane >> 4)) ^ (row & 7)) << 4), "
                                 : "load_words(at + (j * 128 + (tid & 127)) * 16, ";
  const std::string moves = fmt::format(
      "#pragma unroll\n    for (int j = 0; j < {}; ++j) {}w[4 * j], w[4 * j + 1], w[4 * j + 2], w[4 * j + 3]);\n", words / 4, move);
  MicroBody body = shared_moves(words, store, "smem", moves);
  if (store) body.setup += "  const int row = (warp & 3) * 16 + (lane & 15);\n";
  return micro_kernel(rule, tile_dims(n, 1, 16), body);
}

MicroKernel global_tile(const std::string& rule, std::int64_t n, bool store) {
  MicroBody body;
  body.pointer = true;
  const std::int64_t words = n / 4;
  body.setup = fmt::format("  u32 w[{0}];\n#pragma unroll\n  for (int i = 0; i < {0}; ++i) w[i] = tid + i;\n", words);
  // Another part of the scratch tensor each time, so that the first level of cache has nothing.
  const std::string place = fmt::format("memory + r * {} + (j * 128 + tid) * 16", kRows * n * 2);
  body.op = fmt::format(
      "{0}#pragma unroll\n    for (int j = 0; j < {1}; ++j) {2}_global({3}, w[4 * j], w[4 * j + 1], w[4 * j + 2], w[4 * j + 3]);\n{4}",
      store ? "    keep(w);\n" : "", words / 4, store ? "store" : "read", place, store ? "" : "    keep(w);\n");
  body.settle = store ? "" : all_there(words);
  MicroKernel kernel = micro_kernel(rule, tile_dims(n, 1, 16), body);
  kernel.tells_interval = false;
  return kernel;
}

MicroKernel bulk_load(std::int64_t rows) {
  MicroBody body;
  body.map = true;
  body.box = {64, rows};
  const std::int64_t bytes = rows * 128;
  body.setup = fmt::format(
      "  if (tid == 0) {{ barrier_init(smem + {0}, 1); barrier_init(smem + {0} + 8, 1); barrier_init_fence(); prefetch_map(&map); }}\n",
      kBarrierAt);
  body.op =
      fmt::format("    if (tid == 0) {{ arrive_expect(smem + {0}, {1}); tma_load(smem, &map, r % 16 * 64, r / 16 * {2}, smem + {0}); }}\n",
                  kBarrierAt, bytes, rows);
  body.settle = fmt::format("    if (tid == 0) wait(smem + {}, r & 1);\n", kBarrierAt);
  body.burst = fmt::format(
      "    if (tid == 0) {{ if (r == {3}) arrive_expect(smem + {0} + 8, {1}); tma_load(smem, &map, r % 16 * 64, r / 16 * {2}, smem + {0} + "
      "8); }}\n",
      kBarrierAt, bytes * kMicroBurst, rows, kMicroRepeats);
  body.burst_settle = fmt::format("    if (tid == 0) wait(smem + {} + 8, 0);\n", kBarrierAt);
  Scope dims = tile_dims(64, 0, 16);
  dims["rows"] = rows, dims["elems"] = dims["out_elems"] = 64 * rows, dims["in_elems"] = dims["in_bytes"] = 0, dims["bytes"] = bytes;
  return micro_kernel("tma_load", std::move(dims), body);
}

MicroKernel bulk_store(const std::string& rule, std::int64_t rows, bool add) {
  MicroBody body;
  body.map = true;
  body.box = {add ? 32 : 64, rows};
  const std::int64_t bytes = rows * 128;
  body.setup = fmt::format(
      "  for (int i = tid; i < {}; i += 128) store_word(smem + 4 * i, 0u);\n  fence_async();\n  if (tid == 0) prefetch_map(&map);\n",
      bytes / 4);
  body.op = fmt::format("    if (tid == 0) {{ {}(&map, smem, r % 16 * {}, r / 16 * {}); store_commit(); }}\n",
                        add ? "tma_add" : "tma_store", body.box[0], rows);
  body.settle = "    if (tid == 0) store_wait_read<0>();\n";
  Scope dims = tile_dims(body.box[0], 1, add ? 32 : 16);
  dims["rows"] = rows, dims["elems"] = dims["in_elems"] = body.box[0] * rows, dims["out_elems"] = 0,
  dims["bytes"] = dims["in_bytes"] = bytes;
  return micro_kernel(rule, std::move(dims), body, MicroKernel::Method::Single, add ? DType::F32 : DType::Bf16);
}

/// Two warpgroups: the first arrives, or stores its registers and arrives; the second wakes, loads, and arrives in turn. A number
/// is that of both ways.
MicroKernel hand_over(std::int64_t n) {
  MicroBody body;
  body.threads = 256;
  const std::int64_t words = n / 4;  // bf16 pairs
  body.setup = fmt::format(
      "  if (tid == 0) {{ barrier_init(smem + {0}, 4); barrier_init(smem + {0} + 8, 4); barrier_init_fence(); }}\n  u32 p = 0;\n  const "
      "int me = tid & 127;\n",
      kBarrierAt);
  std::string store, load;
  if (words > 0) {
    body.setup += fmt::format("  u32 w[{0}];\n#pragma unroll\n  for (int i = 0; i < {0}; ++i) w[i] = tid + i;\n", words);
    store = fmt::format("keep(w);\n#pragma unroll\n      for (int i = 0; i < {}; ++i) store_word(smem + (i * 128 + me) * 4, w[i]);\n      ",
                        words);
    load = fmt::format("\n#pragma unroll\n      for (int i = 0; i < {}; ++i) load_word(smem + (i * 128 + me) * 4, w[i]);\n      {}", words,
                       all_there(words));
  }
  const auto arrive = [&](int barrier) { return fmt::format("      {}__syncwarp(); if (lane == 0) arrive(smem + {});\n", store, barrier); };
  const auto wake = [&](int barrier) { return fmt::format("      wait(smem + {}, p);{}\n", barrier, load); };
  body.op = "    if (tid < 128) {\n" + arrive(kBarrierAt) + wake(kBarrierAt + 8) + "    } else {\n" + wake(kBarrierAt) +
            arrive(kBarrierAt + 8) + "    }\n    p ^= 1;\n";
  Scope dims = words > 0 ? tile_dims(n, 1, 16) : Scope{};
  if (words > 0) dims["port"] = 8 * words, dims["issues"] = words;  // four warps, a cycle to store and one to load
  return micro_kernel(words > 0 ? "handoff.register_copy" : "handoff.signal", std::move(dims), body);
}

// Blackwell: a thread has a row of a tile of 128 rows.

constexpr std::int64_t kTensorRows = 128;
constexpr int kTensorAt = kBarrierAt + 64;  ///< shared memory: where tensor memory begins
constexpr int kOperandColumn = 256;         ///< of tensor memory: A there, the sum below

Scope row_dims(std::int64_t n, std::int64_t inputs, std::int64_t bits = 32) {
  Scope dims = tile_dims(n, inputs, bits);
  dims["rows"] = kTensorRows, dims["elems"] = dims["in_elems"] = dims["out_elems"] = kTensorRows * n;
  dims["bytes"] = dims["in_bytes"] = kTensorRows * n * bits / 8;
  return dims;
}

/// MicroBody::products, setup and sink for what uses tensor memory.
MicroBody with_tensor_memory() {
  MicroBody body;
  body.products = tensor_load_text(32) + tensor_store_text(32);
  body.setup = fmt::format(
      "  if (warp == 0) tensor_allocate(smem + {}, 512);\n"
      "  if (tid == 0) {{ barrier_init(smem + {}, 1); barrier_init(smem + {} + 8, 1); barrier_init_fence(); }}\n"
      "  tensor_fence_before();\n  __syncthreads();\n  tensor_fence_after();\n"
      "  u32 tensor;\n  load_word(smem + {}, tensor);\n"
      "  const u32 own = tensor + ((u32)(warp & 3) << 21);\n  (void)own;\n",
      kTensorAt, kBarrierAt, kBarrierAt, kTensorAt);
  body.sink = "  tensor_fence_before();\n  __syncthreads();\n  if (warp == 0) tensor_free(tensor, 512);\n";
  return body;
}

/// "tensor_load_n32<32>(own + 32, x); ..." of n columns.
std::string moves(const char* what, std::int64_t n, const char* place, int column, const char* registers) {
  std::string text;
  for (std::int64_t at = 0; at < n; at += 32)
    text += fmt::format("    {}_n32<{}>({} + {}, {});\n", what, at, place, column + at, registers);
  return text;
}

MicroKernel tensor_product(const std::string& rule, std::int64_t n, std::int64_t k, bool from_tensor) {
  MicroBody body = with_tensor_memory();
  const std::int64_t panels = k / 64, a_bytes = 16384 * panels;
  // Operands from the tile's own bytes: small numbers, not zeros.
  body.setup += fmt::format(
      "  for (int i = tid; i < {}; i += 128) store_word(smem + 4 * i, 0x3c003c00u + (u32)(i * 2654435761u >> 20));\n  fence_async();\n",
      (a_bytes + n * 128 * panels) / 4);
  if (from_tensor)
    body.setup += fmt::format("  u32 w[{}];\n", k / 2) + unrolled(k / 2, "w[i] = 0x3c003c00u + tid + i;") +
                  moves("tensor_store", k / 2, "own", kOperandColumn, "w") + "  tensor_await_stores();\n  tensor_fence_before();\n";
  body.setup += fmt::format("  const u64 a = tensor_matrix(smem, 16), b = tensor_matrix(smem + {}, 16);\n  (void)a;\n", a_bytes);
  // bf16 by bf16 into f32, both with their depth in rows of 128 bytes, 128 rows of A.
  const std::int64_t shape = 0x8000490 | n / 8 << 17;
  const std::string operand_a = from_tensor ? fmt::format("tensor + {} + 8 * k", kOperandColumn) : "behind(a, k / 4 * 16384 + k % 4 * 32)";
  const std::string products = fmt::format(
      "#pragma unroll\n    for (int k = 0; k < {}; ++k) tensor_product{}(tensor, {}, behind(b, k / 4 * {} + k % 4 * 32), {:#x}u, r | k);\n",
      k / 16, from_tensor ? "_ts" : "", operand_a, n * 128, shape);
  const auto signal = [](int barrier) { return fmt::format("tensor_signal(smem + {});", barrier); };
  body.op = "    if (tid == 0) {\n" + products + "    " + signal(kBarrierAt) + "\n    }\n";
  body.settle = fmt::format("    wait(smem + {}, r & 1);\n    tensor_fence_after();\n", kBarrierAt);
  body.burst = "    if (tid == 0) {\n" + products + "    }\n";
  body.burst_settle = fmt::format("    if (tid == 0) {}\n    wait(smem + {}, 0);\n", signal(kBarrierAt + 8), kBarrierAt + 8);
  Scope dims = row_dims(n, 3, 16);
  dims["M"] = kTensorRows, dims["N"] = n, dims["K"] = k;
  return micro_kernel(rule, std::move(dims), body);
}

MicroKernel tensor_move(const std::string& rule, std::int64_t n, bool store) {
  MicroBody body = with_tensor_memory();
  body.setup += fmt::format("  float x[{}];\n", n) + unrolled(n, "x[i] = 0.5f + 0.001f * (float)(tid + i);");
  if (!store) body.setup += moves("tensor_store", n, "own", 0, "x") + "  tensor_await_stores();\n";
  // Other columns each time: of stores that do the same one is enough, finds ptxas.
  body.op = "    const u32 at = own + (r & 1) * 256;\n" + moves(store ? "tensor_store" : "tensor_load", n, "at", 0, "x");
  body.settle = store ? "    tensor_await_stores();\n" : "    tensor_await_loads();\n    pin(x);\n" + unrolled(n, "settle(x[i + 31]);", 32);
  return micro_kernel(rule, row_dims(n, 1), body);
}

/// As reduction(), of a row in one thread.
MicroKernel row_reduction(const std::string& rule, std::int64_t n, const char* fold) {
  MicroBody body;
  body.setup =
      fmt::format("  float x[{}], y[4] = {{0.0f, 0.0f, 0.0f, 0.0f}};\n", n) + unrolled(n, "x[i] = 0.5f + 0.001f * (float)(tid + i);");
  const bool three = std::string_view(fold) == "max3_";
  const std::string feed = unrolled(n, feed_of(three ? "fmaxf" : fold, "y[i % 4]")) + "      pin(x);\n";
  const auto two = [&](const std::string& a, const std::string& b) {
    return std::string_view(fold) == "+" ? fmt::format("{} + {}", a, b) : fmt::format("{}({}, {})", three ? "fmaxf" : fold, a, b);
  };
  const std::string each = three ? "y[i / 2 % 4] = max3_(y[i / 2 % 4], x[i], x[i + 1]);" : "y[i % 4] = " + two("y[i % 4]", "x[i]") + ";";
  body.op = feed + unrolled(4, "y[i] = x[i];") +
            fmt::format("#pragma unroll\n    for (int i = 4; i < {}; i += {}) {}\n", n, three ? 2 : 1, each) +
            fmt::format("      y[0] = {};\n      y[1] = y[2] = y[3] = y[0];\n      pin(y);\n",
                        two(two("y[0]", "y[1]"), "(" + two("y[2]", "y[3]") + ")"));
  body.settle = "    settle(y[0]);\n";
  body.burst = feed + unrolled(4, "y[i] = x[i];") + "      pin(y);\n";
  body.burst_settle = body.settle;
  body.sink = "  float sum = y[0];\n" + unrolled(n, "sum += x[i];") + "  settle(sum);\n";
  Scope dims = row_dims(n, 1);
  dims["out_elems"] = kTensorRows, dims["bytes"] = 4 * kTensorRows;
  return micro_kernel(rule, std::move(dims), body, MicroKernel::Method::Beside);
}

/// Rows of swizzled panels of a bf16 tile, 16 bytes at a time.
MicroKernel shared_rows(const std::string& rule, std::int64_t n, bool store) {
  const std::int64_t words = n / 2;
  const std::string moves = fmt::format(
      "#pragma unroll\n    for (int j = 0; j < {}; ++j) {}(at + j / 8 * 16384 + me * 128 + ((j % 8 ^ (me & 7)) << 4), w[4 * j], "
      "w[4 * j + 1], w[4 * j + 2], w[4 * j + 3]);\n",
      words / 4, store ? "store_words" : "load_words");
  MicroBody body = shared_moves(words, store, "smem", moves);
  body.setup += "  const int me = tid & 127;\n";
  return micro_kernel(rule, row_dims(n, 1, 16), body);
}

/// Of the rules that are another thing on Blackwell than on Hopper; false for any other rule.
bool add_tensor_kernels(const std::string& kind, std::vector<MicroKernel>& kernels) {
  if (kind == "mma" || kind == "mma.ss" || kind == "mma.ts") {
    for (const auto& [n, k] : {std::pair{64, 64}, {128, 64}, {128, 128}, {256, 64}})
      kernels.push_back(tensor_product(kind, n, k, kind == "mma.ts"));
  } else if (kind == "tmem_load" || kind == "tmem_store") {
    for (const std::int64_t n : {32, 64, 128}) kernels.push_back(tensor_move(kind, n, kind == "tmem_store"));
  } else if (kind == "reduce_max" || kind == "reduce_min" || kind == "reduce_sum" || kind == "reduce_max.three_inputs") {
    for (const std::int64_t n : {32, 64, 128})
      kernels.push_back(row_reduction(kind, n, kind == "reduce_max.three_inputs" ? "max3_" : fold_of(kind)));
  } else if (kind == "smem_store" || kind == "smem_load") {
    for (const std::int64_t n : {64, 128}) kernels.push_back(shared_rows(kind, n, kind == "smem_store"));
  } else {
    return false;
  }
  return true;
}

MicroKernel nothing() {
  MicroBody body;
  body.setup = "  float y = (float)tid;\n";
  body.op = "    asm volatile(\"\" : \"+f\"(y));\n";
  body.settle = "    settle(y);\n";
  return micro_kernel("nothing", {}, body);
}

constexpr ElementRule kElementRules[] = {
    {"exp2", "exp2_(x[i])"},
    {"elementwise", "x[i] * 1.25f + 0.5f"},
    {"elementwise.max", "fmaxf(x[i], 0.75f)", "fminf(x[i], 1.25f)"},
    {"elementwise.min", "fminf(x[i], 0.75f)", "fmaxf(x[i], 0.5f)"},
    {"elementwise.select", "x[i] > 0.75f ? x[i] : 0.5f"},
    {"elementwise.relu", "fmaxf(x[i], 0.0f)", "fminf(x[i], 1.25f)"},
    {"elementwise.rsqrt", "rsqrt_(x[i])"},
    {"elementwise.recip", "recip_(x[i] + 0.25f)"},  // ptxas knows that a reciprocal's reciprocal is nothing to be computed
    {"elementwise.log2", "log2_(x[i])"},
    {"elementwise.sqrt", "sqrt_(x[i])"},
    {"elementwise.tanh", "tanh_(x[i])"},
    {"elementwise.div", "1.25f * recip_(x[i])"},
    {"elementwise.silu", "x[i] * sigmoid_(x[i])"},
    {"elementwise.sigmoid", "sigmoid_(x[i])"},
    {"elementwise.gelu", "0.5f * x[i] * (1.0f + tanh_(0.797884561f * (x[i] + 0.044715f * x[i] * x[i] * x[i])))"}};

}  // namespace

std::vector<MicroKernel> micro_kernels(const Machine& machine, std::vector<std::string>& left_out) {
  std::vector<MicroKernel> kernels{nothing()};
  for (const CostRule& rule : machine.rules) {
    const std::size_t before = kernels.size();
    const std::string& kind = rule.kind;
    if (machine.arch.starts_with("sm_10") && add_tensor_kernels(kind, kernels)) continue;
    for (const ElementRule& element : kElementRules)
      if (kind == element.rule)
        for (const std::int64_t n : {32, 64, 128}) kernels.push_back(elements(element, n));
    if (kind == "exp2")
      for (const std::int64_t n : {64, 128}) kernels.push_back(elements({"exp2", "exp2_(x[i] * 1.25f - 0.5f)"}, n, 2));
    if (kind == "reduce_max" || kind == "reduce_min" || kind == "reduce_sum")
      for (const std::int64_t n : {64, 128, 176}) kernels.push_back(reduction(kind, n));
    if (kind == "convert")
      for (const std::int64_t n : {64, 128, 176}) kernels.push_back(conversion(kind, n));
    if (kind == "mma" || kind == "mma.ss" || kind == "mma.rs")
      for (const auto& [n, k] : {std::pair{64, 64}, {128, 64}, {128, 128}, {256, 64}})
        kernels.push_back(product(kind, n, k, kind == "mma.rs"));
    if (kind == "smem_store" || kind == "smem_load")
      for (const std::int64_t n : {64, 128, 256}) kernels.push_back(shared_tile(kind, n, kind == "smem_store"));
    if (kind == "load" || kind == "store")
      for (const std::int64_t n : {64, 128}) kernels.push_back(global_tile(kind, n, kind == "store"));
    if (kind == "tma_load")
      for (const std::int64_t rows : {64, 128, 256}) kernels.push_back(bulk_load(rows));
    if (kind == "tma_store" || kind == "atomic_add")
      for (const std::int64_t rows : {64, 128, 256}) kernels.push_back(bulk_store(kind, rows, kind == "atomic_add"));
    if (kernels.size() == before) left_out.push_back(kind);
  }
  kernels.push_back(hand_over(0));
  for (const std::int64_t n : {64, 128}) kernels.push_back(hand_over(n));
  return kernels;
}

std::optional<MicroResult> read_micro(const MicroKernel& kernel, std::span<const std::uint8_t> bytes, const MicroResult& nothing) {
  if (bytes.size() < 8 * kMicroWords) return std::nullopt;
  constexpr std::uint64_t kMost = 0xffffffff;  // clocks have 32 bits; what was never written has 64
  const auto word = [&](std::int64_t at) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + 8 * at, sizeof value);
    return value;
  };
  if (word(0) > kMost || word(1) > kMost) return std::nullopt;
  MicroResult result;
  if (kernel.method != MicroKernel::Method::Single) {
    const double whole = static_cast<double>(word(0)) / kMicroPasses, other = static_cast<double>(word(1)) / kMicroPasses;
    const double difference = std::max(0.0, whole - other);
    if (kernel.method == MicroKernel::Method::Beside) {
      result.latency = difference;
      return result;
    }
    if (word(2) > kMost) return std::nullopt;
    const double alone = static_cast<double>(word(2)) / kMicroPasses / kMicroChain;
    result.interval = result.window = difference;
    result.latency = difference + std::max(0.0, alone - difference / static_cast<double>(std::max<std::int64_t>(kernel.elements, 1)));
    return result;
  }
  std::vector<double> windows, latencies;
  for (int r = kSkipped; r < kMicroRepeats; ++r) {
    if (word(1 + 2 * r) > kMost || word(2 + 2 * r) > kMost) return std::nullopt;
    windows.push_back(static_cast<double>(word(1 + 2 * r)));
    latencies.push_back(static_cast<double>(word(2 + 2 * r)));
  }
  // The first of many takes as long as one alone; the others add an interval each.
  const double window = median(windows), latency = median(latencies);
  const double interval = std::max(0.0, static_cast<double>(word(0)) - latency) / (kMicroBurst * kernel.groups - 1);
  return MicroResult{std::max(0.0, window - nothing.window), std::max(0.0, latency - nothing.latency),
                     kernel.tells_interval ? interval : 0};
}

}  // namespace heddle::codegen
