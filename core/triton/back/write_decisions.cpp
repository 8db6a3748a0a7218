#include "core/triton/back/write_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/dump/text_patch.h"

namespace heddle::triton {
namespace {

using dump::TextPatch;
using dump::TextSpan;

/// Sets attributes of one op, each where Triton's printer would put it: by name.
class OpPatch {
 public:
  OpPatch(const mlir::Op& op, TextPatch& patch) : op_(op), patch_(patch) {}

  void set(const std::string& name, const std::string& value) {
    const std::string text = value.empty() ? name : fmt::format("{} = {}", name, value);
    const mlir::Attribute* old = op_.find(name);
    if (old && !inside(*old)) return;  // in another dictionary: never written by this table
    if (old) {
      const TextSpan span{old->span.begin, old->span.end, {}, {}, {}};
      patch_.replace(&span, text);
    } else {
      fresh_.emplace_back(name, text);
    }
  }

  void finish() {
    if (fresh_.empty()) return;
    std::sort(fresh_.begin(), fresh_.end());
    if (op_.dictionary.end == 0) {
      std::string all;
      for (const auto& [name, text] : fresh_) all += (all.empty() ? "" : ", ") + text;
      // A terminator has its dictionary right behind its name.
      const bool terminator = op_.name == "scf.yield";
      patch_.insert(terminator ? op_.span.begin + op_.name.size() : op_.dictionary_place, " {" + all + "}");
      return;
    }
    const bool empty = std::none_of(op_.attributes.begin(), op_.attributes.end(), [&](const mlir::Attribute& a) { return inside(a); });
    for (std::size_t i = 0; i < fresh_.size(); ++i) {
      const auto& [name, text] = fresh_[i];
      const mlir::Attribute* next = nullptr;
      for (const mlir::Attribute& each : op_.attributes)
        if (inside(each) && each.name > name && (!next || each.span.begin < next->span.begin)) next = &each;
      if (next)
        patch_.insert(next->span.begin, text + ", ");
      else
        patch_.insert(op_.dictionary.end - 1, (empty && i == 0 ? "" : ", ") + text);
    }
  }

 private:
  bool inside(const mlir::Attribute& attribute) const {
    return attribute.span.begin >= op_.dictionary.begin && attribute.span.end <= op_.dictionary.end;
  }

  const mlir::Op& op_;
  TextPatch& patch_;
  std::vector<std::pair<std::string, std::string>> fresh_;
};

std::string array_text(const std::vector<std::int64_t>& numbers) { return fmt::format("array<i32: {}>", fmt::join(numbers, ", ")); }

std::string number_text(std::int64_t number) { return fmt::format("{} : i32", number); }

/// Triton 3.4 knows one number for each op.
std::string partition_text(const mlir::Op& op, const std::vector<std::int64_t>& partitions) {
  const mlir::Attribute* old = op.find("ttg.partition");
  const bool one = old && !old->value.starts_with("array") && partitions.size() == 1;
  return one ? number_text(partitions.front()) : array_text(partitions);
}

}  // namespace

std::string write_decisions(const TritonProgram& program, const LoopSite& loop, const Decisions& decisions) {
  const mlir::Module& module = *program.module;
  const Decisions before = decisions_of(program, loop);
  TextPatch patch(module.text);
  const mlir::Block* body = module.body(loop.op);
  for (std::size_t i = 0; body && i < body->ops.size(); ++i) {
    const Decision &was = before.ops[i], &is = decisions.ops[i];
    if (was == is) continue;
    const mlir::Op& op = module.op(body->ops[i]);
    OpPatch attributes(op, patch);
    if (is.cluster && is.cluster != was.cluster) attributes.set("loop.cluster", number_text(*is.cluster));
    if (is.stage && is.stage != was.stage) attributes.set("loop.stage", number_text(*is.stage));
    if (is.latency && is.latency != was.latency) attributes.set("tt.latency", number_text(*is.latency));
    if (is.self_latency && is.self_latency != was.self_latency) attributes.set("tt.self_latency", number_text(*is.self_latency));
    if (is.partitions != was.partitions) attributes.set("ttg.partition", partition_text(op, is.partitions));
    attributes.finish();
  }
  for (const auto& [id, partitions] : decisions.inside) {
    const mlir::Op& op = module.op(id);
    if (partitions == partitions_of_op(op)) continue;
    OpPatch attributes(op, patch);
    attributes.set("ttg.partition", partition_text(op, partitions));
    attributes.finish();
  }
  OpPatch of_loop(module.op(loop.op), patch);
  if (decisions.max_stage && decisions.max_stage != before.max_stage)
    of_loop.set("tt.scheduled_max_stage", number_text(*decisions.max_stage));
  for (const auto& [name, value] : decisions.of_the_loop) of_loop.set(name, value);
  of_loop.finish();
  return patch.apply();
}

std::string change_words(const Decision& before, const Decision& after) {
  std::vector<std::string> words;
  const auto number = [&](const char* what, std::optional<std::int64_t> was, std::optional<std::int64_t> is) {
    if (was != is)
      words.push_back(fmt::format("{} {} -> {}", what, was ? fmt::format("{}", *was) : "none", is ? fmt::format("{}", *is) : "none"));
  };
  number("stage", before.stage, after.stage);
  number("cluster", before.cluster, after.cluster);
  number("latency", before.latency, after.latency);
  number("own latency", before.self_latency, after.self_latency);
  if (before.partitions != after.partitions) {
    const auto list = [](const std::vector<std::int64_t>& p) { return p.empty() ? "none" : fmt::format("{}", fmt::join(p, ", ")); };
    words.push_back(fmt::format("partition {} -> {}", list(before.partitions), list(after.partitions)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace heddle::triton
