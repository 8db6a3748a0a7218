#include "core/triton/read/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/scanner.h"
#include "core/triton/read/data.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/well_formed.h"

namespace heddle::triton {
namespace {

std::string unquoted(std::string_view text) {
  const std::size_t begin = text.find('"'), end = text.rfind('"');
  return std::string(begin == std::string_view::npos || end <= begin ? text : text.substr(begin + 1, end - begin - 1));
}

/// An attribute of the module under its present name or that of Triton 3.2.
const mlir::Attribute* module_attribute(const mlir::Module& module, std::string_view name) {
  for (const char* dialect : {"ttg.", "triton_gpu.", "ttng.", "triton_nvidia_gpu."})
    if (const mlir::Attribute* found = module.find(dialect + std::string(name))) return found;
  return nullptr;
}

std::int64_t leading_integer(const mlir::Attribute* attribute, std::int64_t fallback) {
  return attribute ? number_in_front(attribute->value, fallback) : fallback;
}

/// What the whole text shows of how far the compiler had come.
TextForm form_of(const mlir::Module& module) {
  bool staged = false, partitioned = false, specialized = false, lowered = false, tokens = false;
  for (const mlir::Op& op : module.ops) {
    staged |= op.find("loop.stage") != nullptr;
    partitioned |= op.find("ttg.partition") != nullptr;
    specialized |= op.name == "ttg.warp_specialize";
    // Tokens order tensor memory until the passes behind the pipeliner drop them. A loop of one stage has no other mark.
    tokens |= op.name == "ub.poison" && !op.types.empty() && op.types.back() == "!ttg.async.token";
    const OpWord* word = find_op(op.name);
    // `tl.debug_barrier()` is a plain barrier in every form; those of memory are made by later passes.
    lowered |=
        word && word->role == OpRole::Sync && present_name(op.name).starts_with("ttng.") && op.name.find("barrier") != std::string::npos;
    lowered |= op.name.find("async_copy_global_to_local") != std::string::npos || op.name.find("async_tma_copy") != std::string::npos;
  }
  if (specialized) return staged || tokens ? TextForm::Specialized : TextForm::Final;
  if (partitioned) return TextForm::Partitioned;
  if (staged) return TextForm::Scheduled;
  return lowered ? TextForm::Final : TextForm::Input;
}

std::string region_label(const mlir::Module& module, mlir::OpId id) {
  for (mlir::BlockId block = module.op(id).parent; block.valid();) {
    const mlir::RegionId region = module.block(block).parent;
    if (!region.valid()) break;
    const mlir::OpId around = module.region(region).parent;
    if (!around.valid()) break;
    if (module.op(around).name.starts_with("ttg.warp_specialize")) {
      const std::string& label = module.region(region).label;
      return label.empty() ? "default" : label;
    }
    block = module.op(around).parent;
  }
  return {};
}

LoopSite describe(const TritonProgram& program, mlir::OpId id, int number) {
  const mlir::Module& module = *program.module;
  const mlir::Op& op = module.op(id);
  LoopSite site;
  site.op = id;
  site.number = number;
  site.line = op.line;
  for (mlir::OpId around = module.around(id); around.valid(); around = module.around(around)) {
    const std::string& name = module.op(around).name;
    if (name == "scf.for" || name == "scf.while") ++site.depth;
  }
  site.num_stages = op.integer("tt.num_stages", 0);
  site.max_stage = op.integer("tt.scheduled_max_stage", 0);
  site.wants_specialization = op.find("tt.warp_specialize") != nullptr;
  site.partition = region_label(module, id);
  const mlir::Block* body = module.body(id);
  bool inner = false;
  if (body) {
    const Flow flow(program, id);
    for (const mlir::OpId inside : flow.ops()) {
      const mlir::Op& each = module.op(inside);
      if (each.name == "scf.yield" || each.name == "scf.condition") continue;
      ++site.ops;
      inner |= each.name == "scf.for" || each.name == "scf.while";
      site.scheduled |= each.find("loop.stage") != nullptr;
      site.partitioned |= each.find("ttg.partition") != nullptr;
      const auto role = work_of(program, each);
      const bool product = role == OpRole::Product || role == OpRole::TensorProduct;
      site.products += product;
      site.tile_ops += product || is_tile_op(program, flow, each);
    }
  }
  if (op.name == "scf.while")
    site.why_not = "how often an scf.while runs, and in which order, is not known before it has run";
  else if (inner && site.tile_ops == 0)
    site.why_not = "it only runs the loop inside it";
  else if (inner)
    site.why_not = "it holds another loop beside its own tile ops";
  else if (site.tile_ops == 0)
    site.why_not = "no op in it works on a tile";
  else if (program.form == TextForm::Specialized || program.form == TextForm::Final)
    site.why_not = fmt::format(
        "the text is in {} form, where barriers have taken the place of dependences: open an earlier one (before "
        "tritongpu-pipeline, of MLIR_ENABLE_DUMP=1) to schedule it",
        to_string(program.form));
  else if (program.num_ctas > 1)
    site.why_not = fmt::format("{} CTAs work on one tile; clusters are not modelled", program.num_ctas);
  return site;
}

}  // namespace

const char* to_string(TextForm form) {
  switch (form) {
    case TextForm::Input: return "input";
    case TextForm::Scheduled: return "scheduled";
    case TextForm::Partitioned: return "partitioned";
    case TextForm::Specialized: return "specialized";
    case TextForm::Final: return "final";
  }
  return "";
}

const char* to_string(TextReading reading) { return reading == TextReading::Triton ? "triton" : "free"; }

std::optional<TextReading> parse_reading(std::string_view word) {
  if (word == "triton") return TextReading::Triton;
  if (word == "free") return TextReading::Free;
  return std::nullopt;
}

Result<TritonProgram> make_program(mlir::Module module, Metadata metadata, std::string pass) {
  if (std::vector<Fault> malformed = malformed_ops(module); !malformed.empty()) return Error{ErrorKind::Input, std::move(malformed)};
  TritonProgram program;
  program.file = module.file;
  program.pass = std::move(pass);
  program.metadata = std::move(metadata);
  std::vector<mlir::OpId> functions;
  for (const mlir::OpId id : module.functions)
    if (module.body(id)) functions.push_back(id);
  const auto is_public = [&](mlir::OpId id) { return module.op(id).words.find("public") != std::string::npos; };
  if (std::count_if(functions.begin(), functions.end(), is_public) == 1)
    functions = {*std::find_if(functions.begin(), functions.end(), is_public)};
  if (functions.empty()) return Error::in_file(program.file, "there is no kernel in it: no tt.func with a body", "is it TTGIR text?");
  if (functions.size() > 1)
    return Error{ErrorKind::Input,
                 {{program.file, fmt::format("{}", module.op(functions[1]).line), "the module has several functions and none is the kernel",
                   "compile with functions inlined"}}};
  program.function = functions[0];
  const std::string& words = module.op(program.function).words;
  if (const std::size_t at = words.find('@'); at != std::string::npos) {
    const std::size_t end = words.find_first_of(" (,", at);
    program.kernel = unquoted(words.substr(at + 1, end == std::string::npos ? std::string::npos : end - at - 1));
  }
  if (program.kernel.empty()) program.kernel = "kernel";
  if (const mlir::Attribute* target = module_attribute(module, "target")) {
    const std::string text = unquoted(target->value);
    program.backend = text.substr(0, text.find(':'));
    if (const std::size_t at = text.find(':'); at != std::string::npos)
      std::from_chars(text.data() + at + 1, text.data() + text.size(), program.target);
  } else if (program.metadata.target) {
    program.target = static_cast<int>(*program.metadata.target);
  }
  if (program.backend != "cuda")
    return Error{ErrorKind::Input,
                 {{program.file, "", fmt::format("the text is for '{}' devices; only NVIDIA GPUs are modelled", program.backend), ""}}};
  program.num_warps =
      std::clamp<std::int64_t>(leading_integer(module_attribute(module, "num-warps"), program.metadata.num_warps.value_or(4)), 1, 64);
  program.num_ctas = leading_integer(module_attribute(module, "num-ctas"), program.metadata.num_ctas.value_or(1));
  if (const mlir::Attribute* pairs = module_attribute(module, "two-ctas"); pairs && pairs->value.starts_with("true"))
    program.num_ctas = std::max<std::int64_t>(program.num_ctas, 2);
  program.form = form_of(module);
  program.module = std::make_shared<const mlir::Module>(std::move(module));
  program.types = value_types(*program.module);
  program.data_ops = data_ops(*program.module, program.types);
  for (std::size_t i = 0; i < program.module->ops.size(); ++i) {
    const std::string& name = program.module->ops[i].name;
    if (name == "scf.for" || name == "scf.while")
      program.loops.push_back(describe(program, mlir::OpId(i), static_cast<int>(program.loops.size())));
  }
  return program;
}

const LoopSite* usual_loop(const TritonProgram& program) {
  const LoopSite* best = nullptr;
  for (const LoopSite& loop : program.loops) {
    if (!loop.why_not.empty()) continue;
    const auto rank = [](const LoopSite& l) { return std::tuple(l.products, l.depth, l.tile_ops); };
    if (!best || rank(loop) > rank(*best)) best = &loop;
  }
  return best;
}

std::string list_loops(const TritonProgram& program) {
  std::string text;
  for (const LoopSite& loop : program.loops) {
    text += fmt::format("{}#{} at line {}: {} ops, {} of tiles", text.empty() ? "" : "; ", loop.number, loop.line, loop.ops, loop.tile_ops);
    if (!loop.why_not.empty()) text += " (" + loop.why_not + ")";
  }
  return text.empty() ? "it has no loop" : text;
}

}  // namespace heddle::triton
