#include "core/triton/read/ops.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::triton {
namespace {

constexpr OpWord kOps[] = {
    // Memory.
    {"tt.descriptor_load", Role::DescriptorLoad},
    {"tt.experimental_descriptor_load", Role::DescriptorLoad},
    {"tt.descriptor_gather", Role::Refused, "rows that an index tile names are not read yet"},
    {"tt.descriptor_store", Role::DescriptorStore},
    {"tt.experimental_descriptor_store", Role::DescriptorStore},
    {"tt.descriptor_reduce", Role::DescriptorReduce},
    {"tt.descriptor_scatter", Role::Refused, "rows that are scattered into global memory have no kind here"},
    {"tt.load", Role::PointerLoad},
    {"tt.store", Role::PointerStore},
    {"tt.atomic_rmw", Role::Atomic},
    {"tt.atomic_cas", Role::Refused, "a compare-and-swap has no kind here"},

    // Products.
    {"ttng.warp_group_dot", Role::Product},
    {"ttng.tc_gen5_mma", Role::TensorProduct},
    {"tt.dot", Role::Refused, "a product by mma.sync has no cost on machines that are scheduled by warp group"},
    {"ttng.tc_gen5_mma_scaled", Role::Refused, "products with scale factors have no kind here yet"},
    {"tt.dot_scaled", Role::Refused, "products with scale factors have no kind here yet"},

    // Storage.
    {"ttng.tmem_load", Role::TensorLoad},
    {"ttng.tmem_store", Role::TensorStore},
    {"ttng.tmem_alloc", Role::TensorAlloc},
    {"ttg.local_alloc", Role::SharedAlloc},
    {"ttg.local_load", Role::SharedLoad},
    {"ttg.local_store", Role::SharedStore},
    {"ttg.local_dealloc", Role::Sync},

    // Views.
    {"ttg.convert_layout", Role::View},
    {"ttg.memdesc_trans", Role::View},
    {"ttg.memdesc_index", Role::View},
    {"ttg.memdesc_subview", Role::View},
    {"ttg.memdesc_subslice", Role::View},
    {"ttg.memdesc_reshape", Role::View},
    {"ttg.memdesc_reinterpret", Role::View},
    {"ttng.tmem_subslice", Role::View},
    {"tt.expand_dims", Role::View},
    {"tt.broadcast", Role::View},
    {"tt.splat", Role::View},
    {"tt.unsplat", Role::View},
    {"tt.trans", Role::View},
    {"tt.reshape", Role::View},
    {"tt.bitcast", Role::View},
    {"arith.bitcast", Role::View},

    // Reductions.
    {"tt.reduce", Role::Reduce},
    {"tt.scan", Role::Refused, "scans have no kind here"},
    {"tt.histogram", Role::Refused, "histograms have no kind here"},
    {"tt.gather", Role::Refused, "a gather inside a tile has no kind here"},
    {"tt.join", Role::Refused, "joining two tiles has no kind here"},
    {"tt.split", Role::Refused, "splitting a tile in two has no kind here"},
    {"tt.cat", Role::Refused, "concatenating tiles has no kind here"},
    {"tt.map_elementwise", Role::Refused, "a function with several results per element has no kind here"},
    {"tt.elementwise_inline_asm", Role::Refused, "what inline assembly computes and costs is not known"},
    {"tt.call", Role::Refused, "a call hides what it does; compile with the function inlined (noinline=False)"},

    // Element by element.
    {"arith.addf", Role::Elements, "x0 + x1"},
    {"arith.subf", Role::Elements, "x0 - x1"},
    {"arith.mulf", Role::Elements, "x0 * x1"},
    {"arith.divf", Role::Elements, "x0 / x1"},
    {"tt.precise_divf", Role::Elements, "x0 / x1"},
    {"tt.approx_divf", Role::Elements, "x0 / x1"},
    {"arith.negf", Role::Elements, "-x0"},
    {"arith.maxnumf", Role::Elements, "max(x0, x1)"},
    {"arith.maximumf", Role::Elements, "max(x0, x1)"},
    {"arith.minnumf", Role::Elements, "min(x0, x1)"},
    {"arith.minimumf", Role::Elements, "min(x0, x1)"},
    {"tt.clampf", Role::Elements, "min(max(x0, x1), x2)"},
    {"math.fma", Role::Elements, "fma(x0, x1, x2)"},
    {"math.exp2", Role::Elements, "exp2(x0)"},
    {"math.exp", Role::Elements, "exp(x0)"},
    {"math.log2", Role::Elements, "log2(x0)"},
    {"math.log", Role::Elements, "log(x0)"},
    {"math.sqrt", Role::Elements, "sqrt(x0)"},
    {"tt.precise_sqrt", Role::Elements, "sqrt(x0)"},
    {"math.rsqrt", Role::Elements, "rsqrt(x0)"},
    {"math.absf", Role::Elements, "abs(x0)"},
    {"math.floor", Role::Elements, "floor(x0)"},
    {"math.ceil", Role::Elements, "ceil(x0)"},
    {"math.sin", Role::Elements, "sin(x0)"},
    {"math.cos", Role::Elements, "cos(x0)"},
    {"math.tanh", Role::Elements, "tanh(x0)"},
    {"math.erf", Role::Elements, "erf(x0)"},
    {"math.powf", Role::Elements, "pow(x0, x1)"},
    {"arith.select", Role::Elements, "select(x0, x1, x2)"},
    {"arith.cmpf", Role::Elements},
    {"tt.extern_elementwise", Role::Elements},
    {"arith.truncf", Role::Convert},
    {"arith.extf", Role::Convert},
    {"tt.fp_to_fp", Role::Convert},
    {"arith.sitofp", Role::Convert},
    {"arith.uitofp", Role::Convert},
    {"arith.fptosi", Role::Refused, "integer tiles that come from numbers have no kind here"},
    {"arith.fptoui", Role::Refused, "integer tiles that come from numbers have no kind here"},

    // Constants and indices.
    {"arith.constant", Role::Constant},
    {"ub.poison", Role::Constant},
    {"tt.make_range", Role::Index},
    {"tt.addptr", Role::Index},
    {"tt.get_program_id", Role::Index},
    {"tt.get_num_programs", Role::Index},
    {"tt.make_tensor_descriptor", Role::Index},
    {"ttng.tensormap_create", Role::Index},
    {"ttng.tensormap_fenceproxy_acquire", Role::Sync},
    {"ttng.reinterpret_tensor_descriptor", Role::View},
    {"ttg.global_scratch_alloc", Role::Index},
    {"tt.make_tensor_ptr", Role::Refused, "block pointers are rewritten by Triton before this pass"},
    {"tt.advance", Role::Refused, "block pointers are rewritten by Triton before this pass"},
    {"arith.addi", Role::Index},
    {"arith.subi", Role::Index},
    {"arith.muli", Role::Index},
    {"arith.divsi", Role::Index},
    {"arith.divui", Role::Index},
    {"arith.ceildivsi", Role::Index},
    {"arith.floordivsi", Role::Index},
    {"arith.remsi", Role::Index},
    {"arith.remui", Role::Index},
    {"arith.minsi", Role::Index},
    {"arith.minui", Role::Index},
    {"arith.maxsi", Role::Index},
    {"arith.maxui", Role::Index},
    {"arith.andi", Role::Index},
    {"arith.ori", Role::Index},
    {"arith.xori", Role::Index},
    {"arith.shli", Role::Index},
    {"arith.shrsi", Role::Index},
    {"arith.shrui", Role::Index},
    {"arith.cmpi", Role::Index},
    {"arith.extsi", Role::Index},
    {"arith.extui", Role::Index},
    {"arith.trunci", Role::Index},
    {"arith.index_cast", Role::Index},

    // Final forms.
    {"ttng.init_barrier", Role::Sync},
    {"ttng.inval_barrier", Role::Sync},
    {"ttng.barrier_expect", Role::Sync},
    {"ttng.wait_barrier", Role::Sync},
    {"ttng.arrive_barrier", Role::Sync},
    {"ttng.tc_gen5_commit", Role::Sync},
    {"ttng.fence_async_shared", Role::Sync},
    {"ttng.fence_mbarrier_init_release_cluster", Role::Sync},
    {"ttng.async_tma_copy_global_to_local", Role::DescriptorLoad},
    {"ttng.async_tma_copy_local_to_global", Role::DescriptorStore},
    {"ttng.async_tma_reduce", Role::DescriptorReduce},
    {"ttng.async_tma_gather", Role::Gather},
    {"ttng.async_tma_store_wait", Role::Sync},
    {"ttng.warp_group_dot_wait", Role::View},
    {"ttg.async_copy_global_to_local", Role::PointerLoad},
    {"ttg.async_commit_group", Role::Sync},
    {"ttg.async_wait", Role::Sync},
    {"gpu.barrier", Role::Sync},
    {"ttg.barrier", Role::Sync},
    {"nvvm.barrier0", Role::Sync},
    {"tt.assert", Role::Sync},
    {"tt.print", Role::Sync},
    {"llvm.intr.assume", Role::Sync},

    // Control.
    {"scf.for", Role::Control},
    {"scf.if", Role::Control},
    {"scf.while", Role::Control},
    {"scf.yield", Role::Control},
    {"scf.condition", Role::Control},
    {"ttg.warp_specialize", Role::Control},
    {"ttg.warp_yield", Role::Control},
    {"ttg.warp_return", Role::Control},
    {"ttg.warp_specialize.partitions", Role::Control},
    {"tt.reduce.return", Role::Control},
    {"tt.return", Role::Control},
    {"func.return", Role::Control},
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
  return word && word->role == Role::Elements ? std::string(word->words) : std::string();
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
