// How one of the alternatives of an op is put in force, and taken back. Choices name only what is not as by default.
#pragma once

#include <string>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/layout/choices.h"
#include "core/layout/plan.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"

namespace heddle {

/// One of the alternatives: how a value lies in shared memory, and in which instruction an op moves it.
struct LayoutUse {
  std::string value, layout;
  std::string op;
  InstructionChoice instruction;
};

/// The choices with this one in force. What it says that is so without being chosen is not chosen. Pre: the problem is of kernel and
/// machine.
LayoutChoices with_use(const Kernel& kernel, const Machine& machine, const Problem& problem, LayoutChoices choices, const LayoutUse& use);
/// The choices without those for the value and for the op.
LayoutChoices without(LayoutChoices choices, const std::string& value, const std::string& op);

/// Everything lies, and is ordered and written, as the choices say.
bool in_force(const Kernel& kernel, const LayoutPlan& plan, const LayoutChoices& choices);

/// "st.shared.8"; with lanes that exchange what they store "st.shared.8 x2/3".
std::string brief_text(const InstructionChoice& choice);

/// A choice in words: "dqs0 panels 32", "stage_dq0 st.shared.8", with an exchange "stage_dq0 st.shared.8 x2/3".
struct ChoiceWords {
  std::string value, op;  ///< one of them: of which it is
  std::string text;
};
std::vector<ChoiceWords> words_of(const LayoutChoices& choices);
/// All of them: "dqs0 panels 32 · stage_dq0 st.shared.8"; empty where nothing is chosen.
std::string choices_in_words(const LayoutChoices& choices);

}  // namespace heddle
