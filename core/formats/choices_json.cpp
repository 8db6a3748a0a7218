#include "core/formats/choices_json.h"

#include <fmt/format.h>

#include <optional>

#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/base/text_style.h"
#include "core/formats/members.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostLaneBit = 4, kMostRegisterBit = 20;
constexpr std::size_t kMostChoices = 4096, kLongestText = 4096;

struct Exchange {
  std::vector<std::int64_t> bits{};
};

/// Members of an object, one by one; nothing where it is none.
template <class Each>
void each_member(const Cursor& at, Each each) {
  const Json::Object* members = at.json().members();
  if (!members) return at.fault("expected an object, found " + describe(at.json()));
  if (members->size() > kMostChoices) return at.fault(fmt::format("{} members, expected at most {}", members->size(), kMostChoices));
  for (const JsonMember& member : *members) each(member.key, Cursor(member.value, pointer_to(at.pointer(), member.key), at.log()));
}

std::optional<std::string> short_text(const Cursor& at, const char* what) {
  auto text = at.string();
  if (!text) return std::nullopt;
  if (text->empty() || text->size() > kLongestText) {
    at.fault(fmt::format("expected {} of 1 to {} characters, found {}", what, kLongestText, text->size()));
    return std::nullopt;
  }
  return text;
}

Json text_schema() { return schema::type("string").set("minLength", 1).set("maxLength", kLongestText); }

}  // namespace

template <class Io>
void visit(Io& io, InstructionChoice& choice) {
  io.part("", "With lanes that exchange what they store.");
  io.required("name", choice.name, as::label, "of the machine's catalogue");
  Exchange bits;
  if (choice.exchange.used()) bits.bits = {choice.exchange.lane, choice.exchange.register_bit};
  io.optional("exchange", bits.bits, as::list(as::integer(0, kMostRegisterBit), 2, 2),
              "[lane bit, register bit]: lanes with that bit move what the others move when the register bit is the other way round");
  if constexpr (Io::reads) {
    if (bits.bits.empty()) return;
    if (bits.bits.size() != 2 || bits.bits[0] > kMostLaneBit)
      io.fault("expected an exchange [lane bit 0 to 4, register bit 0 to 20]", "for example [2, 3]");
    else
      choice.exchange = {static_cast<int>(bits.bits[0]), static_cast<int>(bits.bits[1])};
  }
}

namespace as {

void LayoutTexts::read(const Cursor& at, std::map<std::string, std::string>& value) const {
  each_member(at, [&](const std::string& key, const Cursor& item) {
    if (auto text = short_text(item, "a layout")) value[key] = *std::move(text);
  });
}

Json LayoutTexts::write(const std::map<std::string, std::string>& value) const {
  Json object = Json::object();
  for (const auto& [name, text] : value) object.set(name, text);
  return object;
}

Json LayoutTexts::schema(const std::map<std::string, std::string>&, Json&) const {
  return schema::type("object").set("additionalProperties", text_schema());
}

void InstructionNames::read(const Cursor& at, std::map<std::string, InstructionChoice>& value) const {
  each_member(at, [&](const std::string& key, const Cursor& item) {
    InstructionChoice choice;
    if (item.json().is_object()) {
      part.read(item, choice);
    } else if (const auto text = short_text(item, "an instruction")) {
      choice.name = *text;
    }
    if (!choice.name.empty()) value[key] = std::move(choice);
  });
}

Json InstructionNames::write(const std::map<std::string, InstructionChoice>& value) const {
  Json object = Json::object();
  for (const auto& [name, choice] : value) object.set(name, choice.exchange.used() ? part.write(choice) : Json(choice.name));
  return object;
}

Json InstructionNames::schema(const std::map<std::string, InstructionChoice>&, Json& definitions) const {
  Json either = Json::array();
  either.push(text_schema()).push(part.schema(InstructionChoice{}, definitions));
  return schema::type("object").set("additionalProperties", Json::object().set("anyOf", std::move(either)));
}

}  // namespace as

LayoutChoices read_choices_from(ObjectReader& root) {
  LayoutChoices choices;
  if (const auto at = root.find("layouts")) as::layout_texts.read(*at, choices.layouts);
  if (const auto at = root.find("instructions")) as::instruction_names.read(*at, choices.instructions);
  return choices;
}

void set_choices(Json& root, const LayoutChoices& choices) {
  if (!choices.layouts.empty()) root.set("layouts", as::layout_texts.write(choices.layouts));
  if (!choices.instructions.empty()) root.set("instructions", as::instruction_names.write(choices.instructions));
}

Json layouts_schema(Json& definitions) { return as::layout_texts.schema({}, definitions); }
Json instructions_schema(Json& definitions) { return as::instruction_names.schema({}, definitions); }

namespace {

/// What stands before and after the first "="; a fault and nothing where there is none.
std::optional<std::pair<std::string, std::string>> two_sides(std::string_view text, const char* form, const char* part,
                                                             std::vector<Fault>& faults) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size() || text.size() > kLongestText) {
    faults.push_back({{}, {}, fmt::format("expected {}, found '{}'", form, printable(text.substr(0, 80))), {}, part});
    return std::nullopt;
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

std::optional<int> bit_of(const std::string& text, std::int64_t most) {
  const auto bit = read_number<int>(text);
  return bit && *bit >= 0 && *bit <= most ? bit : std::nullopt;
}

}  // namespace

void add_layout(std::string_view text, LayoutChoices& choices, std::vector<Fault>& faults) {
  const auto sides = two_sides(text, "VALUE=LAYOUT", "form of a layout", faults);
  if (sides && !choices.layouts.emplace(sides->first, sides->second).second)
    faults.push_back({{}, {}, fmt::format("chooses for '{}' twice", printable(sides->first)), {}, "layout"});
}

void add_instruction(std::string_view text, LayoutChoices& choices, std::vector<Fault>& faults) {
  const auto sides = two_sides(text, "OP=NAME", "form of an instruction", faults);
  if (!sides) return;
  InstructionChoice choice;
  const std::vector<std::string> words = split(sides->second, ',');
  if (words.size() != 1 && words.size() != 3) {
    faults.push_back({{},
                      {},
                      fmt::format("expected OP=NAME or OP=NAME,LANE_BIT,REGISTER_BIT, found '{}'", printable(text)),
                      "for example stage_dq0=st.shared.8,2,3",
                      "form of an instruction"});
    return;
  }
  choice.name = words[0];
  if (words.size() == 3) {
    const auto lane = bit_of(words[1], kMostLaneBit), reg = bit_of(words[2], kMostRegisterBit);
    if (!lane || !reg) {
      faults.push_back({{},
                        {},
                        fmt::format("{}: expected lane bit 0 to 4 and register bit 0 to 20", printable(text)),
                        "for example stage_dq0=st.shared.8,2,3",
                        "instruction"});
      return;
    }
    choice.exchange = {*lane, *reg};
  }
  if (!choices.instructions.emplace(sides->first, choice).second)
    faults.push_back({{}, {}, fmt::format("chooses for '{}' twice", printable(sides->first)), {}, "instruction"});
}

std::string instruction_text(const InstructionChoice& choice) {
  return choice.exchange.used() ? fmt::format("{},{},{}", choice.name, choice.exchange.lane, choice.exchange.register_bit) : choice.name;
}

std::string choices_text(const LayoutChoices& choices) {
  std::string text;
  for (const auto& [name, layout] : choices.layouts) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, layout);
  for (const auto& [name, choice] : choices.instructions)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, instruction_text(choice));
  return text.empty() ? "the default ones" : text;
}

}  // namespace heddle
