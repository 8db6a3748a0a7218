// A Triton text in words: which kernels, passes, loops and readings there are to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/text_style.h"
#include "core/library/triton_text.h"

namespace heddle {
namespace {

const char* word_of(triton::TextReading reading) { return reading == triton::TextReading::Free ? "free" : "Triton's"; }

const char* about_reading(triton::TextReading reading) {
  return reading == triton::TextReading::Free
             ? "Heddle's reading: the same computation, its tiles cut and its warps specialized as the machine allows."
             : "What Triton's own passes can build: rings as deep as stages lie apart, on Hopper one stream of ops.";
}

std::string file_name(const std::string& path) { return printable(std::filesystem::path(path).filename().string()); }

void add_loops(const triton::TritonProgram& program, const triton::LoopSite* current, SourceOutline& outline) {
  for (const triton::LoopSite& loop : program.loops) {
    std::string name = fmt::format("loop {}", loop.number);
    if (!loop.partition.empty()) name += " · " + printable(loop.partition);
    const bool can = loop.why_not.empty();
    const std::string facts = can ? count_of(static_cast<std::int64_t>(loop.tile_ops), "tile op") : printable(loop.why_not);
    outline.loops.push_back({std::to_string(loop.number),
                             std::move(name),
                             fmt::format("line {} · {}", loop.line, facts),
                             {},
                             current == &loop,
                             can ? std::optional(FilePart{{}, loop.number, {}}) : std::nullopt});
  }
}

}  // namespace

std::string TritonText::reading_name() const { return word_of(reading()); }

std::string TritonText::subject() const {
  if (undecided()) return file_name(path());
  const triton::TritonProgram& program = **this->program();
  std::string text = printable(program.kernel);
  if (const triton::LoopSite* loop = site(); loop && program.loops.size() > 1) text += fmt::format(" · loop {}", loop->number);
  return text;
}

std::string TritonText::audit_name() const {
  triton::TextAddress address = *address_;
  address.reading.reset();
  if (undecided() || !site() || (*program())->loops.size() < 2) address.loop.reset();
  return triton::to_string(address);
}

SourceOutline TritonText::outline() const {
  SourceOutline outline;
  outline.title = "TRITON";
  outline.file = file_name(path());
  const std::string words = fmt::format("{}", fmt::join(address_->words, ","));
  const std::vector<triton::Offer> all = offers() ? *offers() : std::vector<triton::Offer>();
  for (const triton::Offer& offer : all)
    if (all.size() > 1)
      outline.offers.push_back({offer.words,
                                printable(offer.title),
                                printable(offer.detail),
                                {},
                                !undecided() && (words.empty() ? offer.usual : offer.words == words),
                                FilePart{offer.words, {}, {}}});
  if (undecided()) {
    outline.format = count_of(static_cast<std::int64_t>(all.size()), "kernel");
    outline.about = "Choose one of its kernels.";
    return outline;
  }
  const SharedProgram read = this->program();
  const triton::TritonProgram& program = **read;
  outline.format = fmt::format("{} · sm_{} · {}", to_string(program.form), program.target, count_of(program.num_warps, "warp"));
  outline.about =
      fmt::format("{}, printed {}", printable(program.kernel),
                  program.pass.empty() ? fmt::format("in its {} form", to_string(program.form)) : "before " + printable(program.pass));
  if (!program.metadata.triton_version.empty()) outline.about += "; Triton " + printable(program.metadata.triton_version);
  if (const triton::Native* n = native())
    outline.about += fmt::format("\n{} ops, {} of tiles, {} edges; {} after fusing", n->ops, n->tile_ops, n->edges, n->fused);
  add_loops(program, site(), outline);
  if (!site()) return outline;
  for (const triton::TextReading one : {triton::TextReading::Triton, triton::TextReading::Free})
    outline.readings.push_back({to_string(one), word_of(one), {}, about_reading(one), reading() == one, FilePart{{}, {}, to_string(one)}});
  return outline;
}

}  // namespace heddle
