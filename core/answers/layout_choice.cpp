#include "core/answers/layout_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/plan.h"

namespace heddle {

LayoutChoices with_use(const Kernel& kernel, const Machine& machine, const Problem& problem, LayoutChoices choices, const LayoutUse& use) {
  choices = without(std::move(choices), use.value, use.op);
  // What does not fit without them is for resolve() to say, of the choices that come out.
  std::vector<Fault> ignored;
  const LayoutPlan plan = plan_layouts(kernel, problem.params, machine, choices, ignored);
  const TileValue* value = kernel.find_value(use.value);
  const OpPlan* op = plan.find(use.op);
  const bool lies_so = value && plan.values[static_cast<std::size_t>(value - kernel.values.data())].text == use.layout;
  if (!lies_so) choices.layouts[use.value] = use.layout;
  if (!lies_so || !op || op->instruction != use.instruction) choices.instructions[use.op] = use.instruction;
  return choices;
}

LayoutChoices without(LayoutChoices choices, const std::string& value, const std::string& op) {
  choices.layouts.erase(value);
  choices.instructions.erase(op);
  return choices;
}

bool in_force(const Kernel& kernel, const LayoutPlan& plan, const LayoutChoices& choices) {
  for (const auto& [name, layout] : choices.layouts) {
    const TileValue* value = kernel.find_value(name);
    const auto order = plan.choices.layouts.find(name);
    const std::string& now = value ? plan.values[static_cast<std::size_t>(value - kernel.values.data())].text
                             : order == plan.choices.layouts.end() ? std::string(kNaturalOrder)
                                                                   : order->second;
    if (now != layout) return false;
  }
  return std::all_of(choices.instructions.begin(), choices.instructions.end(), [&](const auto& choice) {
    const OpPlan* op = plan.find(choice.first);
    return op && op->instruction == choice.second;
  });
}

std::string brief_text(const InstructionChoice& choice) {
  if (!choice.exchange.used()) return choice.name;
  return fmt::format("{} x{}/{}", choice.name, choice.exchange.lane, choice.exchange.register_bit);
}

std::vector<ChoiceWords> words_of(const LayoutChoices& choices) {
  std::vector<ChoiceWords> words;
  for (const auto& [value, layout] : choices.layouts) words.push_back({value, {}, value + " " + layout});
  for (const auto& [op, choice] : choices.instructions) words.push_back({{}, op, op + " " + brief_text(choice)});
  return words;
}

std::string choices_in_words(const LayoutChoices& choices) {
  std::string text;
  for (const ChoiceWords& one : words_of(choices)) text += (text.empty() ? "" : " · ") + one.text;
  return text;
}

}  // namespace heddle
