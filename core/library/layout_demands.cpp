#include "core/library/layout_demands.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/formats/choices_json.h"
#include "core/layout/known.h"

namespace heddle {
namespace {

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The first word, which is taken away.
std::string_view take_word(std::string_view& text) {
  text = without_spaces(text);
  const std::string_view word = text.substr(0, text.find(' '));
  text = without_spaces(text.substr(word.size()));
  return word;
}

bool reads(const TileOp& op, std::string_view value) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == value; });
}

bool writes(const TileOp& op, std::string_view value) { return std::find(op.outputs.begin(), op.outputs.end(), value) != op.outputs.end(); }

}  // namespace

bool take_layout_demand(std::string_view sentence, const Kernel& kernel, LayoutChoices& choices, std::vector<Fault>& faults) {
  std::string_view rest = sentence;
  const std::string_view verb = take_word(rest);
  if (verb != "layout" && verb != "store" && verb != "load" && verb != "convert" && verb != "prepack") return false;
  const std::string name(take_word(rest));
  const auto fault = [&](std::string message, std::string hint) {
    faults.push_back({"", "", fmt::format("{}: {}", printable(sentence), message), std::move(hint)});
  };
  if (verb == "layout") {
    const auto called_so = [](const TileOp& op) { return op.name == "layout"; };
    if (std::any_of(kernel.body.begin(), kernel.body.end(), called_so)) return false;
    if (name.empty() || rest.empty())
      fault("which value lies how?", "\"layout dqs0 panels 32\"");
    else
      add_layout(fmt::format("{}={}", name, rest), choices, faults);
    return true;
  }
  if (verb == "prepack") {
    if (rest != "on" && rest != "off") return false;
    std::vector<std::string> known;
    for (const Tensor& tensor : kernel.tensors)
      if (tensor.packing == Packing::Free) known.push_back(tensor.name);
    const Tensor* tensor = kernel.find_tensor(name);
    if (tensor && tensor->packing == Packing::Free)
      add_layout(fmt::format("{}={}", name, rest == "on" ? kPrepackedOrder : kNaturalOrder), choices, faults);
    else if (tensor && tensor->packing == Packing::Packed)
      fault(fmt::format("the file says that '{}' is prepacked", printable(name)), "\"prepacked\": \"free\" leaves it open");
    else if (const std::string near = did_you_mean(name, known); true)
      fault(fmt::format("kernel '{}' has no tensor of this name that may be prepacked", kernel.name),
            !near.empty()   ? near
            : known.empty() ? "\"prepacked\": \"free\" in its file says of which it may be"
                            : "there are " + list_of(known));
    return true;
  }
  const auto takes_part = [&](const TileOp& op) { return op.name == name || reads(op, name) || writes(op, name); };
  if (verb == "convert") {
    if (rest != "in registers") return false;  // an op may be called so
    std::vector<std::string> known, ops;
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& op : *list) {
        if (op.kind != "copy" && op.kind != "convert") continue;
        known.push_back(op.name);
        if (takes_part(op)) ops.push_back(op.name);
      }
    const std::string near = did_you_mean(name, known);
    if (ops.empty())
      fault(fmt::format("kernel '{}' has no copy or conversion of this name, or of a value of this name", kernel.name),
            !near.empty()   ? near
            : known.empty() ? "there is none"
                            : "there are " + list_of(known));
    for (const std::string& op : ops) add_instruction(fmt::format("{}={}", op, kInRegisters), choices, faults);
    return true;
  }
  // An op may be called "load": then it is a demand like any other ("load before store").
  const std::string_view by = take_word(rest);
  if (by != "by" || name.empty() || rest.empty()) {
    if (kernel.find_value(name) == nullptr) return false;
    fault("by which instruction?", fmt::format("\"{} {} by {}.shared.16\"", verb, printable(name), verb == "store" ? "st" : "ld"));
    return true;
  }
  const std::string kind = verb == "store" ? "smem_store" : "smem_load";
  std::vector<std::string> moved, ops;
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list) {
      if (op.kind != kind) continue;
      moved.insert(moved.end(), op.outputs.begin(), op.outputs.end());
      if (takes_part(op)) ops.push_back(op.name);
    }
  if (ops.empty()) {
    const std::string near = did_you_mean(name, moved);
    fault(fmt::format("kernel '{}' has nothing of this name that threads {}", kernel.name, verb == "store" ? "store" : "load"),
          !near.empty()   ? near
          : moved.empty() ? "there is none"
                          : "there are " + list_of(moved));
  }
  const bool bare = rest == "stmatrix" || rest == "ldmatrix";  // the widest
  for (const std::string& op : ops) add_instruction(fmt::format("{}={}{}", op, rest, bare ? ".x4" : ""), choices, faults);
  return true;
}

}  // namespace heddle
