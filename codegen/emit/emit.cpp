#include "codegen/emit/emit.h"

#include <algorithm>
#include <set>

#include "codegen/device/device.h"
#include "codegen/emit/context.h"
#include "codegen/emit/places.h"
#include "codegen/emit/recorder.h"
#include "codegen/emit/rescale.h"
#include "codegen/emit/role.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/tensor_move.h"
#include "codegen/emit/walk.h"

namespace heddle::codegen {
namespace {

/// What a tensor read by plain loads is to the text.
const char* pointer_type(DType dtype) {
  switch (bits_of(dtype)) {
    case 32: return dtype == DType::F32 ? "float" : "int";
    case 16: return "unsigned short";
    default: return "unsigned char";
  }
}

bool prepare(EmitContext& emit) {
  std::int64_t tiles = 1;
  for (const GridDim& dim : emit.kernel.grid) {
    const auto size = dim.size.evaluate(emit.program.params);
    emit.grid.sizes.push_back(size.ok() ? *size : 0);
    if (emit.program.cluster > 1 && emit.grid.sizes.size() - 1 == emit.program.cluster_dim)
      emit.grid.sizes.back() = (emit.grid.sizes.back() + emit.program.cluster - 1) / emit.program.cluster;
    emit.grid.names.push_back("g_" + safe_name(dim.name) + (emit.grid.names.empty() ? "" : std::to_string(emit.grid.names.size())));
    if (emit.grid.sizes.back() < 1 || emit.grid.sizes.back() > kMostTiles) tiles = 0;
    tiles = tiles > kMostTiles ? tiles : tiles * emit.grid.sizes.back();
  }
  if (tiles < 1 || tiles > kMostTiles) {
    emit.refusals.push_back({"grid", {}, fmt::format("the grid has {} tiles; 1 to {} can be written", tiles, kMostTiles), std::nullopt});
    return false;
  }
  emit.launch.threads = emit.program.threads;
  emit.launch.smem_bytes = emit.program.smem_bytes;
  emit.launch.tiles = tiles * emit.program.cluster;
  emit.launch.cluster = emit.program.cluster;
  begin_sizes(emit);
  if (emit.launch.sizes && emit.records) {
    emit.refusals.push_back(
        {"run_time_sizes", {}, "a recording build is of one size, for its window is counted from the loop's ends", std::nullopt});
    return false;
  }
  emit.tiles = tiles_in_registers(emit.kernel, emit.problem, emit.schedule, emit.program, emit.refusals);
  if (emit.program.varies) emit.grid.rule = trip_rule(emit);
  return emit.refusals.empty();
}

/// Where a packed tensor keeps its numbers, for whoever packs or unpacks it; core/kernel/packed.h has the same.
void write_place_of(EmitContext& emit, const Tensor& tensor, PackedOrder order) {
  const int bits = bits_of(tensor.dtype);
  const std::int64_t columns = tensor.shape.back().evaluate(emit.program.params).value(), width = packed_columns(bits);
  const std::string block = fmt::format("(row / 64 * {} + column / {}) * {}", columns / width, width, kPackedRows * width);
  const std::string lane = "row % 8 * 4 + column % 8 / 2";
  emit.text.line("#ifndef __CUDA_ARCH__  // for the host: where {} keeps a number, counted in numbers{}", safe_name(tensor.name),
                 bits == 4 ? " of 4 bits, the lower half of a byte first" : "");
  emit.text.line("static inline long long place_of_{}(long long row, long long column) {{", safe_name(tensor.name));
  if (order == PackedOrder::Lines)
    emit.text.line("  return {} + row % 64 / 16 * 128 + (row % 16 / 8 * 2 + column % 2) * 32 + {};", block, lane);
  else if (bits == 4)
    emit.text.line(
        "  return {} + (row % 64 / 16 * 32 + {}) * 32 + column % 64 / 16 * 8 + column % 2 * 4 + column % 16 / 8 * 2 + row % 16 / 8;", block,
        lane);
  else
    emit.text.line("  return {} + (row % 64 / 16 * 32 + {}) * 4 + row % 16 / 8 * 2 + column % 2;", block, lane);
  emit.text.raw("}");
  emit.text.raw("#endif");
}

void write_head(EmitContext& emit, const std::vector<std::string>& unskipped) {
  emit.text.line("// {}: CUDA C++ for {}, written by Heddle from a schedule. Do not edit: change the schedule.",
                 safe_name(emit.program.kernel), safe_name(emit.program.arch));
  if (emit.program.blackwell()) emit.text.raw("// not run on a GPU yet: compiled, and executed by an emulator of what it uses");
  std::string params, sizes;
  for (const auto& [name, number] : emit.program.params)
    if (std::find(emit.program.sizes.begin(), emit.program.sizes.end(), name) == emit.program.sizes.end())
      params += fmt::format(" {}={}", safe_name(name), number);
    else
      sizes += " " + safe_name(name);
  if (emit.launch.sizes)
    emit.text.line("//{}{} sizes as an argument:{}; {} trips or more{}", params, params.empty() ? "" : ";", sizes, emit.program.least_trips,
                   emit.program.trip_step > 1 ? fmt::format(", {} apart", emit.program.trip_step) : "");
  else
    emit.text.line("//{}; {} trips, {} tiles", params, emit.program.trips, emit.launch.tiles);
  emit.text.line("// machine {}{}, II {} cycles", safe_name(emit.problem.machine), emit.problem.changes.empty() ? "" : " (changed)",
                 emit.schedule.ii);
  for (const std::string& change : emit.problem.changes) emit.text.line("// changed: {}", comment_text(change));
  if (emit.schedule.certificate) {
    const Certificate& c = *emit.schedule.certificate;
    emit.text.line("// certificate: {}, lower bound {}, proved by the program that wrote this, problem {}", to_string(c.status),
                   c.lower_bound, safe_name(c.problem_hash));
    if (c.period) emit.text.line("// {}", comment_text(period_sentence(*c.period, emit.schedule.ii)));
  } else if (emit.schedule.claim) {
    const Certificate& c = *emit.schedule.claim;
    emit.text.line("// certificate: none; the schedule's file says {}, lower bound {}, problem {}", to_string(c.status), c.lower_bound,
                   safe_name(c.problem_hash));
  } else {
    emit.text.raw("// certificate: none, nothing is claimed about other schedules");
  }
  emit.text.line("// launch: {} threads, {} bytes of dynamic shared memory, a block per SM (at most {}){}", emit.program.threads,
                 emit.program.smem_bytes, emit.launch.sizes ? emit.launch.sizes->tiles : fmt::format("{}", emit.launch.tiles),
                 emit.program.cluster > 1 ? fmt::format(", in clusters of {}", emit.program.cluster) : std::string());
  for (const std::string& name : unskipped)
    emit.text.line(
        "// {}: factors of one are multiplied too, for in this schedule it does not follow what reads its tile, or what writes it back",
        safe_name(name));
  for (std::size_t m = 0; m < emit.launch.maps.size(); ++m) {
    const TensorMapPlan& map = emit.launch.maps[m];
    std::string box, extents;
    for (const std::int64_t b : map.box) box += fmt::format(" {}", b);
    for (const std::int64_t e : map.extents)
      if (map.extent_texts.empty()) extents += fmt::format(" {}", e);
    extents += fmt::format("{}{}", map.extent_texts.empty() ? "" : " ", fmt::join(map.extent_texts, ", "));
    if (!map.strides.empty()) extents += fmt::format(" in strides of {}", fmt::join(map.strides, " "));
    emit.text.line("// map{}: {}, extents{} (innermost first), box{}, {}", m, safe_name(emit.kernel.tensors[map.tensor].name), extents, box,
                   map.swizzle > 0 ? fmt::format("{}-byte swizzle", map.swizzle) : "no swizzle");
  }
  std::set<std::string> places;
  for (const auto& [name, order] : emit.tiles.plan->packed)
    if (const Tensor* tensor = emit.kernel.find_tensor(name); tensor && places.insert(safe_name(name)).second)
      write_place_of(emit, *tensor, order);
  emit.text.raw("");
}

void allocate_tensor_memory(EmitContext& emit) {
  const std::int64_t address = emit.program.smem_bytes - 16;  // behind the barriers
  emit.text.line("if (threadIdx.x / 32 == {}) tensor_allocate{}(smem + {}, {});",
                 emit.program.roles[emit.program.tensor->freed_by.value_or(0)].first_thread / 32, emit.program.pair ? "_pair" : "", address,
                 emit.program.tensor->columns);
  emit.text.raw("tensor_fence_before();");
  emit.text.raw(emit.program.pair ? "cluster_sync();" : "__syncthreads();");
  emit.text.raw("tensor_fence_after();");
  emit.text.raw("u32 tensor;  // where tensor memory begins");
  emit.text.line("load_word(smem + {}, tensor);", address);
}

/// `roles`: the branches, which have found out which maps and pointers there are.
void write_kernel(EmitContext& emit, const CudaText& roles) {
  std::string arguments;
  for (std::size_t m = 0; m < emit.launch.maps.size(); ++m)
    arguments += fmt::format("{}const __grid_constant__ TensorMap map{}", arguments.empty() ? "" : ", ", m);
  for (std::size_t p = 0; p < emit.launch.pointers.size(); ++p)
    arguments += fmt::format("{}{}{}* __restrict__ {}", arguments.empty() ? "" : ", ",
                             is_written(emit.kernel.tensors[emit.launch.pointers[p]].role) ? "" : "const ",
                             pointer_type(emit.kernel.tensors[emit.launch.pointers[p]].dtype), pointer_name(emit, p));
  if (emit.launch.sizes) arguments += fmt::format("{}const __grid_constant__ Sizes sizes", arguments.empty() ? "" : ", ");
  if (emit.records) arguments += fmt::format("{}u64* records", arguments.empty() ? "" : ", ");
  const bool clusters = emit.program.cluster > 1;
  write_sizes(emit);
  emit.text.open("extern \"C\" __global__ void {}__launch_bounds__({}, 1)\n{}({}) {{",
                 clusters ? fmt::format("__cluster_dims__({}, 1, 1) ", emit.program.cluster) : std::string(), emit.program.threads,
                 emit.launch.entry, arguments);
  emit.text.raw("extern __shared__ __align__(1024) unsigned char shared[];");
  emit.text.raw("const u32 smem = shared_address(shared);");
  if (clusters)
    emit.text.line("const int rank = blockIdx.x % {}, cluster = blockIdx.x / {}, clusters = gridDim.x / {};  // this block in its cluster",
                   emit.program.cluster, emit.program.cluster, emit.program.cluster);
  if (clusters && roles.mentions("in_block"))
    emit.text.raw(
        "const u32 in_block = smem & 0x3ffff;  // an address in a cluster has the block's rank in bits 24 and up; descriptors have no room "
        "for it");
  for (const Buffer& buffer : emit.program.buffers)
    if (!buffer.tensor())
      emit.text.line("// {:>7}: {}, {} x {} bytes", buffer.offset, safe_name(buffer.name), buffer.depth, buffer.slot_bytes);
  for (const Role& role : emit.program.roles)
    if (role.scratch_bytes > 0)
      emit.text.line("// {:>7}: changes of layout of {}, {} bytes", role.scratch_offset, safe_name(role.name), role.scratch_bytes);
  for (const Buffer& buffer : emit.program.buffers)
    if (buffer.tensor())
      emit.text.line("// {:>7}: {}, {} x {} columns of tensor memory", buffer.offset, safe_name(buffer.name), buffer.depth, buffer.columns);
  emit.text.open("if (threadIdx.x == 0) {{");
  for (std::size_t b = 0; b < emit.program.barriers.size(); ++b) {
    const Barrier& barrier = emit.program.barriers[b];
    const int depth = emit.program.buffers[barrier.buffer].depth;
    const std::string name = barrier_name(emit, b);
    for (int s = 0; s < depth; ++s)
      emit.text.line("barrier_init(smem + {}, {});  // {} {}[{}]", barrier_address(emit.program, b) + 8 * s, barrier.arrivals,
                     barrier.full ? "full" : "empty", name, s);
  }
  for (std::size_t m = 0; m < emit.launch.maps.size(); ++m) emit.text.line("prefetch_map(&map{});", m);
  emit.text.raw("barrier_init_fence();");
  if (emit.records) emit.text.raw(record_head(emit, "block_begins"));
  emit.text.close();
  if (emit.program.tensor)
    allocate_tensor_memory(emit);
  else
    emit.text.raw(clusters ? "cluster_sync();" : "__syncthreads();");
  emit.text.append(roles);
  emit.text.close();
}

}  // namespace

EmitResult emit_cuda(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program, Recording recording) {
  EmitContext emit{kernel, problem, schedule, program};
  if (recording != Recording::None) emit.records = plan_records(program, recording);
  if (!prepare(emit)) return {std::nullopt, std::move(emit.refusals)};
  // Roles first: they find out which maps, pointers and wrappers there are.
  const CudaText roles = emit.text.apart(
      [&] {
        for (std::size_t r = 0; r < program.roles.size(); ++r) write_role(emit, r);
      },
      1);
  const CudaText main = emit.text.apart([&] { write_kernel(emit, roles); });
  const std::vector<std::string> unskipped = unskipped_ops(emit);
  if (!emit.refusals.empty()) return {std::nullopt, std::move(emit.refusals)};
  CudaText body;
  for (const ProductShape& shape : emit.wrappers.products) body.append(product_text(shape) + "\n");
  for (const int width : emit.wrappers.tensor_loads) body.append(tensor_load_text(width) + "\n");
  for (const int width : emit.wrappers.tensor_stores) body.append(tensor_store_text(width) + "\n");
  body.append(main);
  write_head(emit, unskipped);
  emit.text.append(device_text(body.str()) + "\n");
  emit.text.append(body);
  return {Emission{emit.text.str(), std::move(emit.launch), emit.text.spans(), std::move(emit.records)}, {}};
}

}  // namespace heddle::codegen
