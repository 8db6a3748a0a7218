#include "app/window/parts/dump_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/triton_source.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

std::string facts_of(const dump::Loop& loop) {
  if (loop.nodes.empty()) return "no ops";
  std::string text = count_of(static_cast<std::int64_t>(loop.nodes.size()), "op");
  if (loop.stated_ii && loop.scheduled()) return text + fmt::format(" · II {}", grouped(*loop.stated_ii));
  if (loop.min_ii) return text + fmt::format(" · MinII {}", grouped(*loop.min_ii));
  return text + " · no schedule";
}

/// The loop that has this one as an op.
std::optional<std::int64_t> loop_around(const dump::Dump& dump, std::int64_t id) {
  for (const dump::Loop& outer : dump.loops)
    for (const dump::Node& n : outer.nodes)
      if (n.super && n.inner_loop == id && outer.id != id) return outer.id;
  return std::nullopt;
}

}  // namespace

DumpModel build_dump(const DumpSource& source) {
  const dump::Dump& dump = source.dump();
  DumpModel model;
  model.title = "DUMP";
  model.path = source.file->path;
  model.file = printable(base_name(source.file->path));
  if (dump.variants > 0) model.file += fmt::format(" · {} variants", dump.variants);
  model.format = to_string(dump.format);
  model.about = fmt::format("{}{}; shared memory {} bytes, tensor memory {} bytes", model.format,
                            dump.algorithm.empty() ? "" : ", made by " + printable(dump.algorithm), grouped(dump.smem_budget),
                            grouped(dump.tmem_budget));
  for (std::size_t i = 0; i < dump.loops.size(); ++i) {
    const dump::Loop& loop = dump.loops[i];
    SourceChoice choice{std::to_string(loop.id), fmt::format("loop {}", loop.id), facts_of(loop), {}, i == source.loop,
                        ShowLoop{loop.id, {}}};
    if (const auto around = loop_around(dump, loop.id)) choice.name += fmt::format(" in {}", *around);
    model.loops.push_back(std::move(choice));
  }
  for (const dump::Reading reading : {dump::Reading::Full, dump::Reading::IssueSlots})
    model.readings.push_back(
        {to_string(reading), short_name(reading), {}, about(reading), source.reading == reading, ShowLoop{{}, reading}});
  return model;
}

DumpModel build_triton(const TritonSource& source) {
  DumpModel model;
  model.title = "TRITON";
  model.path = source.file->path;
  model.file = printable(base_name(source.file->path));
  const auto& offers = source.file->offers;
  std::string words;
  for (const std::string& word : source.words) words += (words.empty() ? "" : ",") + word;
  for (const triton::Offer& offer : offers) {
    if (offers.size() < 2) break;
    const bool current = source.program && (words.empty() ? offer.usual : offer.words == words);
    model.offers.push_back({offer.words, printable(offer.title), printable(offer.detail), {}, current, ShowTriton{offer.words, {}, {}}});
  }
  if (!source.program) {
    model.format = count_of(static_cast<std::int64_t>(offers.size()), "kernel");
    model.about = "Choose one of its kernels.";
    return model;
  }
  const triton::Program& program = *source.program;
  model.format = fmt::format("{} · sm_{} · {}", to_string(program.form), program.target, count_of(program.num_warps, "warp"));
  model.about =
      fmt::format("{}, printed {}", printable(program.kernel),
                  program.pass.empty() ? fmt::format("in its {} form", to_string(program.form)) : "before " + printable(program.pass));
  if (!program.metadata.triton_version.empty()) model.about += "; Triton " + printable(program.metadata.triton_version);
  if (source.native)
    model.about += fmt::format("\n{} ops, {} of tiles, {} edges; {} after fusing", source.native->ops, source.native->tile_ops,
                               source.native->edges, source.native->fused);
  for (std::size_t i = 0; i < program.loops.size(); ++i) {
    const triton::LoopSite& loop = program.loops[i];
    std::string facts = loop.why_not.empty()
                            ? fmt::format("line {} · {}", loop.line, count_of(static_cast<std::int64_t>(loop.tile_ops), "tile op"))
                            : fmt::format("line {} · {}", loop.line, printable(loop.why_not));
    SourceChoice choice{std::to_string(loop.number),
                        fmt::format("loop {}", loop.number),
                        std::move(facts),
                        {},
                        source.loop && source.loop->index() == i,
                        {}};
    if (!loop.partition.empty()) choice.name += " · " + printable(loop.partition);
    if (loop.why_not.empty()) choice.show = ShowTriton{{}, loop.number, {}};
    model.loops.push_back(std::move(choice));
  }
  if (source.loop)
    for (const triton::Reading reading : {triton::Reading::Triton, triton::Reading::Free})
      model.readings.push_back(
          {to_string(reading), short_name(reading), {}, about(reading), source.reading == reading, ShowTriton{{}, {}, reading}});
  return model;
}

std::optional<DumpModel> build_opened(const Content& content) {
  if (content.dump) return build_dump(*content.dump);
  if (content.triton) return build_triton(*content.triton);
  return std::nullopt;
}

std::string describe_node(const dump::Node& node) {
  std::string text = printable(node.what);
  text += fmt::format("{}{}, node {}", text.empty() ? "" : " · ", printable(node.kind), node.id);
  if (node.cycle) text += fmt::format(" · stored: cycle {}", grouped(*node.cycle));
  if (node.stage) text += fmt::format(", stage {}", *node.stage);
  if (node.group >= 0) text += fmt::format(", wg{}", node.group);
  if (node.group == dump::kReplicated) text += ", a copy in every group";
  if (node.occupancy_derived) text += " · occupancy by the compiler's published rules, not in the file";
  return text;
}

std::optional<std::int64_t> loop_inside(const DumpSource& source, const dump::Node& node) {
  if (!node.super) return std::nullopt;
  const auto& loops = source.dump().loops;
  const bool here = std::any_of(loops.begin(), loops.end(), [&](const dump::Loop& l) { return l.id == node.inner_loop; });
  return here ? std::optional(node.inner_loop) : std::nullopt;
}

}  // namespace heddle::app
