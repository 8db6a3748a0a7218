#include "core/triton/read/ops.h"

#include <algorithm>
#include <utility>

namespace heddle::triton {
namespace {

constexpr OpWord kOps[] = {
    // Memory.
    {"tt.descriptor_load", OpRole::DescriptorLoad},
    {"tt.experimental_descriptor_load", OpRole::DescriptorLoad},
    {"tt.descriptor_gather", OpRole::Refused, "rows that an index tile names are not read yet"},
    {"tt.descriptor_store", OpRole::DescriptorStore},
    {"tt.experimental_descriptor_store", OpRole::DescriptorStore},
    {"tt.descriptor_reduce", OpRole::DescriptorReduce},
    {"tt.descriptor_scatter", OpRole::Refused, "rows that are scattered into global memory have no kind here"},
    {"tt.load", OpRole::PointerLoad},
    {"tt.store", OpRole::PointerStore},
    {"tt.atomic_rmw", OpRole::Atomic},
    {"tt.atomic_cas", OpRole::Refused, "a compare-and-swap has no kind here"},

    // Mmas.
    {"ttng.warp_group_dot", OpRole::Product},
    {"ttng.tc_gen5_mma", OpRole::TensorProduct},
    {"tt.dot", OpRole::Product},
    {"ttng.tc_gen5_mma_scaled", OpRole::Refused, "mmas with scale factors have no kind here yet"},
    {"tt.dot_scaled", OpRole::Refused, "mmas with scale factors have no kind here yet"},

    // Storage.
    {"ttng.tmem_load", OpRole::TensorLoad},
    {"ttng.tmem_store", OpRole::TensorStore},
    {"ttng.tmem_alloc", OpRole::TensorAlloc},
    {"ttg.local_alloc", OpRole::SharedAlloc},
    {"ttg.local_load", OpRole::SharedLoad},
    {"ttg.local_store", OpRole::SharedStore},
    {"ttg.local_dealloc", OpRole::Sync},

    // Views.
    {"ttg.convert_layout", OpRole::View},
    {"ttg.memdesc_trans", OpRole::View},
    {"ttg.memdesc_index", OpRole::View},
    {"ttg.memdesc_subview", OpRole::View},
    {"ttg.memdesc_subslice", OpRole::View},
    {"ttg.memdesc_reshape", OpRole::View},
    {"ttg.memdesc_reinterpret", OpRole::View},
    {"ttng.tmem_subslice", OpRole::View},
    {"tt.expand_dims", OpRole::View},
    {"tt.broadcast", OpRole::View},
    {"tt.splat", OpRole::View},
    {"tt.unsplat", OpRole::View},
    {"tt.trans", OpRole::View},
    {"tt.reshape", OpRole::View},
    {"tt.bitcast", OpRole::View},
    {"arith.bitcast", OpRole::View},

    // Reductions.
    {"tt.reduce", OpRole::Reduce},
    {"tt.scan", OpRole::Opaque, "10"},
    {"tt.histogram", OpRole::Opaque, "8"},
    {"tt.gather", OpRole::Opaque, "4"},
    {"tt.join", OpRole::Opaque, "1"},
    {"tt.split", OpRole::Opaque, "1"},
    {"tt.cat", OpRole::Opaque, "1"},
    {"ttg.fp4_to_fp", OpRole::Opaque, "2"},
    {"tt.map_elementwise", OpRole::Opaque, "4"},
    {"tt.elementwise_inline_asm", OpRole::Opaque, "1"},
    {"tt.call", OpRole::Refused, "a call hides what it does; compile with the function inlined (noinline=False)"},

    // Element by element.
    {"arith.addf", OpRole::Elements, "x0 + x1"},
    {"arith.subf", OpRole::Elements, "x0 - x1"},
    {"arith.mulf", OpRole::Elements, "x0 * x1"},
    {"arith.divf", OpRole::Elements, "x0 / x1"},
    {"tt.precise_divf", OpRole::Elements, "x0 / x1"},
    {"tt.approx_divf", OpRole::Elements, "x0 / x1"},
    {"arith.negf", OpRole::Elements, "-x0"},
    {"arith.maxnumf", OpRole::Elements, "max(x0, x1)"},
    {"arith.maximumf", OpRole::Elements, "max(x0, x1)"},
    {"arith.minnumf", OpRole::Elements, "min(x0, x1)"},
    {"arith.minimumf", OpRole::Elements, "min(x0, x1)"},
    {"tt.clampf", OpRole::Elements, "min(max(x0, x1), x2)"},
    {"math.fma", OpRole::Elements, "fma(x0, x1, x2)"},
    {"math.exp2", OpRole::Elements, "exp2(x0)"},
    {"math.exp", OpRole::Elements, "exp(x0)"},
    {"math.log2", OpRole::Elements, "log2(x0)"},
    {"math.log", OpRole::Elements, "log(x0)"},
    {"math.sqrt", OpRole::Elements, "sqrt(x0)"},
    {"tt.precise_sqrt", OpRole::Elements, "sqrt(x0)"},
    {"math.rsqrt", OpRole::Elements, "rsqrt(x0)"},
    {"math.absf", OpRole::Elements, "abs(x0)"},
    {"math.floor", OpRole::Elements, "floor(x0)"},
    {"math.ceil", OpRole::Elements, "ceil(x0)"},
    {"math.sin", OpRole::Elements, "sin(x0)"},
    {"math.cos", OpRole::Elements, "cos(x0)"},
    {"math.tanh", OpRole::Elements, "tanh(x0)"},
    {"math.erf", OpRole::Elements, "erf(x0)"},
    {"math.powf", OpRole::Elements, "pow(x0, x1)"},
    {"arith.select", OpRole::Elements, "select(x0, x1, x2)"},
    {"arith.cmpf", OpRole::Elements},
    {"tt.extern_elementwise", OpRole::Elements},
    {"arith.truncf", OpRole::Convert},
    {"arith.extf", OpRole::Convert},
    {"tt.fp_to_fp", OpRole::Convert},
    {"arith.sitofp", OpRole::Convert},
    {"arith.uitofp", OpRole::Convert},
    {"arith.fptosi", OpRole::Elements},
    {"arith.fptoui", OpRole::Elements},

    // Constants and indices.
    {"arith.constant", OpRole::Constant},
    {"ub.poison", OpRole::Constant},
    {"tt.make_range", OpRole::Index},
    {"tt.addptr", OpRole::Index},
    {"tt.get_program_id", OpRole::Index},
    {"tt.get_num_programs", OpRole::Index},
    {"tt.make_tensor_descriptor", OpRole::Index},
    {"ttng.tensormap_create", OpRole::Index},
    {"ttng.tensormap_fenceproxy_acquire", OpRole::Sync},
    {"ttng.reinterpret_tensor_descriptor", OpRole::View},
    {"ttg.global_scratch_alloc", OpRole::Index},
    {"tt.make_tensor_ptr", OpRole::Refused, "block pointers are rewritten by Triton before this pass"},
    {"tt.advance", OpRole::Refused, "block pointers are rewritten by Triton before this pass"},
    {"arith.addi", OpRole::Index},
    {"arith.subi", OpRole::Index},
    {"arith.muli", OpRole::Index},
    {"arith.divsi", OpRole::Index},
    {"arith.divui", OpRole::Index},
    {"arith.ceildivsi", OpRole::Index},
    {"arith.floordivsi", OpRole::Index},
    {"arith.remsi", OpRole::Index},
    {"arith.remui", OpRole::Index},
    {"arith.minsi", OpRole::Index},
    {"arith.minui", OpRole::Index},
    {"arith.maxsi", OpRole::Index},
    {"arith.maxui", OpRole::Index},
    {"arith.andi", OpRole::Index},
    {"arith.ori", OpRole::Index},
    {"arith.xori", OpRole::Index},
    {"arith.shli", OpRole::Index},
    {"arith.shrsi", OpRole::Index},
    {"arith.shrui", OpRole::Index},
    {"arith.cmpi", OpRole::Index},
    {"arith.extsi", OpRole::Index},
    {"arith.extui", OpRole::Index},
    {"arith.trunci", OpRole::Index},
    {"arith.index_cast", OpRole::Index},

    // Final forms.
    {"ttng.init_barrier", OpRole::Sync},
    {"ttng.inval_barrier", OpRole::Sync},
    {"ttng.barrier_expect", OpRole::Sync},
    {"ttng.wait_barrier", OpRole::Sync},
    {"ttng.arrive_barrier", OpRole::Sync},
    {"ttng.tc_gen5_commit", OpRole::Sync},
    {"ttng.fence_async_shared", OpRole::Sync},
    {"ttng.fence_mbarrier_init_release_cluster", OpRole::Sync},
    {"ttng.async_tma_copy_global_to_local", OpRole::DescriptorLoad},
    {"ttng.async_tma_copy_local_to_global", OpRole::DescriptorStore},
    {"ttng.async_tma_reduce", OpRole::DescriptorReduce},
    {"ttng.async_tma_gather", OpRole::Gather},
    {"ttng.async_tma_store_wait", OpRole::Sync},
    {"ttng.warp_group_dot_wait", OpRole::View},
    {"ttg.async_copy_global_to_local", OpRole::PointerLoad},
    {"ttg.async_commit_group", OpRole::Sync},
    {"ttg.async_wait", OpRole::Sync},
    {"gpu.barrier", OpRole::Sync},
    {"ttg.barrier", OpRole::Sync},
    {"nvvm.barrier0", OpRole::Sync},
    {"tt.assert", OpRole::Sync},
    {"tt.print", OpRole::Sync},
    {"llvm.intr.assume", OpRole::Sync},

    // Control.
    {"scf.for", OpRole::Control},
    {"scf.if", OpRole::Control},
    {"scf.while", OpRole::Control},
    {"scf.yield", OpRole::Control},
    {"scf.condition", OpRole::Control},
    {"ttg.warp_specialize", OpRole::Control},
    {"ttg.warp_yield", OpRole::Control},
    {"ttg.warp_return", OpRole::Control},
    {"ttg.warp_specialize.partitions", OpRole::Control},
    {"tt.reduce.return", OpRole::Control},
    {"tt.return", OpRole::Control},
    {"func.return", OpRole::Control},
};

constexpr std::pair<std::string_view, std::string_view> kPredicates[] = {
    {"oeq", "=="}, {"ueq", "=="}, {"one", "!="}, {"une", "!="}, {"olt", "<"},  {"ult", "<"},
    {"ole", "<="}, {"ule", "<="}, {"ogt", ">"},  {"ugt", ">"},  {"oge", ">="}, {"uge", ">="},
};

/// Functions of libdevice by their name without "__nv_", "fast_" and the "f" of single precision.
constexpr std::pair<std::string_view, std::string_view> kLibdevice[] = {
    {"rsqrt", "rsqrt(x0)"}, {"sqrt", "sqrt(x0)"},    {"exp2", "exp2(x0)"},    {"exp", "exp(x0)"},     {"log2", "log2(x0)"},
    {"log", "log(x0)"},     {"tanh", "tanh(x0)"},    {"erf", "erf(x0)"},      {"pow", "pow(x0, x1)"}, {"fabs", "abs(x0)"},
    {"floor", "floor(x0)"}, {"ceil", "ceil(x0)"},    {"sin", "sin(x0)"},      {"cos", "cos(x0)"},     {"fma", "fma(x0, x1, x2)"},
    {"fdivide", "x0 / x1"}, {"fmax", "max(x0, x1)"}, {"fmin", "min(x0, x1)"},
};

std::string_view bare_symbol(std::string_view text) {
  if (const std::size_t quote = text.find('"'); quote != std::string_view::npos) text = text.substr(quote + 1, text.rfind('"') - quote - 1);
  for (const std::string_view head : {"__nv_", "fast_"})
    if (text.starts_with(head)) text.remove_prefix(head.size());
  return text;
}

}  // namespace

std::string present_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOld[] = {{"triton_gpu.", "ttg."}, {"triton_nvidia_gpu.", "ttng."}};
  for (const auto& [old, now] : kOld)
    if (name.starts_with(old)) return std::string(now) + std::string(name.substr(old.size()));
  return std::string(name);
}

bool is_tensor_product(std::string_view name) { return present_name(name).starts_with("ttng.tc_gen5_mma"); }

const OpWord* find_op(std::string_view name) {
  const std::string present = present_name(name);
  const auto it = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpWord& word) { return word.name == present; });
  return it == std::end(kOps) ? nullptr : &*it;
}

std::string expression_of(const mlir::Op& op) {
  if (op.name == "arith.cmpf") {
    for (const auto& [word, symbol] : kPredicates)
      if (op.words.starts_with(word)) return "x0 " + std::string(symbol) + " x1";
    return {};
  }
  if (op.name == "tt.extern_elementwise") {
    const mlir::Attribute* symbol = op.find("symbol");
    const std::string_view name = symbol ? bare_symbol(symbol->value) : std::string_view();
    for (const auto& [known, expression] : kLibdevice)
      if (name == known || (name.size() == known.size() + 1 && name.starts_with(known) && name.back() == 'f'))
        return std::string(expression);
    return {};
  }
  const OpWord* word = find_op(op.name);
  return word && word->role == OpRole::Elements ? std::string(word->words) : std::string();
}

const char* integer_predicate(const mlir::Op& compare) {
  // Unsigned ones differ where a side is negative, which is not known here.
  constexpr std::pair<std::string_view, const char*> kIntegers[] = {{"slt", "<"},  {"sle", "<="}, {"sgt", ">"},
                                                                    {"sge", ">="}, {"eq", "=="},  {"ne", "!="}};
  for (const auto& [word, symbol] : kIntegers)
    if (compare.words.starts_with(word)) return symbol;
  return nullptr;
}

std::string reduction_of(const mlir::Module& module, const mlir::Op& op) {
  if (op.regions.empty() || module.region(op.regions[0]).blocks.empty()) return {};
  const mlir::Block& block = module.block(module.region(op.regions[0]).blocks[0]);
  std::vector<std::string> names;
  for (const mlir::OpId id : block.ops)
    if (module.op(id).name != "tt.reduce.return") names.push_back(module.op(id).name);
  if (op.operands.size() == 1 && names.size() == 1) {
    constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
        {"arith.addf", "sum"},     {"arith.maxnumf", "max"}, {"arith.maximumf", "max"}, {"arith.minnumf", "min"},
        {"arith.minimumf", "min"}, {"arith.xori", "xor"},    {"arith.addi", "sum"},     {"arith.maxsi", "max"},
        {"arith.maxui", "max"},    {"arith.minsi", "min"},   {"arith.minui", "min"},
    };
    for (const auto& [name, what] : kPlain)
      if (names[0] == name) return std::string(what);
  }
  // The greatest element and its place, the first one where several are as great.
  if (op.operands.size() == 2 && op.results.size() == 2) {
    bool greater = false;
    for (const mlir::OpId id : block.ops) {
      const mlir::Op& inner = module.op(id);
      const bool known = inner.name == "arith.cmpf" || inner.name == "arith.cmpi" || inner.name == "arith.andi" ||
                         inner.name == "arith.ori" || inner.name == "arith.select" || inner.name == "tt.reduce.return";
      if (!known || (inner.name == "arith.cmpf" && inner.words.find("lt") != std::string::npos)) return {};
      greater |= inner.name == "arith.cmpf" && inner.words.find("gt") != std::string::npos;
    }
    if (greater) return "argmax";
  }
  return {};
}

}  // namespace heddle::triton
