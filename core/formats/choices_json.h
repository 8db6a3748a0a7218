// Choices of layouts and instructions (core/layout/choices.h) as members of schedule files, and as words of a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_reader.h"
#include "core/base/result.h"
#include "core/layout/choices.h"

namespace heddle {

namespace as {

/// {"dqs0": "panels 64"}
struct LayoutTexts {
  void read(const Cursor& at, std::map<std::string, std::string>& value) const;
  Json write(const std::map<std::string, std::string>& value) const;
  Json schema(const std::map<std::string, std::string>&, Json& definitions) const;
};
inline constexpr LayoutTexts layout_texts;

/// {"stage_ds0": "stmatrix.x4", "stage_dq0": {"name": "st.shared.8", "exchange": [2, 3]}}
struct InstructionNames {
  void read(const Cursor& at, std::map<std::string, InstructionChoice>& value) const;
  Json write(const std::map<std::string, InstructionChoice>& value) const;
  Json schema(const std::map<std::string, InstructionChoice>&, Json& definitions) const;
};
inline constexpr InstructionNames instruction_names;

}  // namespace as

// The members "layouts" and "instructions" of a document that has no list of members of its own.
LayoutChoices read_choices_from(ObjectReader& root);
void set_choices(Json& root, const LayoutChoices& choices);  ///< where there are any
Json layouts_schema(Json& definitions);
Json instructions_schema(Json& definitions);

/// "VALUE=TEXT" and "OP=NAME", with an exchange "OP=NAME,LANE_BIT,REGISTER_BIT", added to the choices. Faults: no such form, a value or
/// an op given twice. What exists is for resolve() to say.
void add_layout(std::string_view text, LayoutChoices& choices, std::vector<Fault>& faults);
void add_instruction(std::string_view text, LayoutChoices& choices, std::vector<Fault>& faults);

/// "st.shared.8", "st.shared.8,2,3": as add_instruction() reads it.
std::string instruction_text(const InstructionChoice& choice);
/// "dqs0=panels 64, stage_dq0=st.shared.8"; "the default ones" where nothing was chosen.
std::string choices_text(const LayoutChoices& choices);

}  // namespace heddle
