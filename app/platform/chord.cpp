#include "app/platform/chord.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/letters.h"

namespace heddle::app {
namespace {

constexpr std::pair<Key, std::string_view> kNames[] = {{Key::Left, "Left"},
                                                       {Key::Right, "Right"},
                                                       {Key::Up, "Up"},
                                                       {Key::Down, "Down"},
                                                       {Key::Home, "Home"},
                                                       {Key::End, "End"},
                                                       {Key::PageUp, "PageUp"},
                                                       {Key::PageDown, "PageDown"},
                                                       {Key::Period, "."},
                                                       {Key::Comma, ","},
                                                       {Key::LeftBracket, "["},
                                                       {Key::RightBracket, "]"},
                                                       {Key::Slash, "/"},
                                                       {Key::Minus, "-"},
                                                       {Key::Equal, "="},
                                                       {Key::Semicolon, ";"},
                                                       {Key::Apostrophe, "'"},
                                                       {Key::Backslash, "\\"},
                                                       {Key::Backtick, "`"},
                                                       {Key::Tab, "Tab"},
                                                       {Key::Enter, "Enter"},
                                                       {Key::Escape, "Esc"},
                                                       {Key::Backspace, "Backspace"},
                                                       {Key::Delete, "Delete"},
                                                       {Key::Insert, "Insert"},
                                                       {Key::Space, "Space"}};

Key offset(Key first, int steps) { return static_cast<Key>(static_cast<int>(first) + steps); }

std::optional<Key> parse_key(std::string_view text) {
  if (text.size() == 1) {
    const auto c = static_cast<unsigned char>(text[0]);
    if (std::isalpha(c)) return offset(Key::A, std::toupper(c) - 'A');
    if (std::isdigit(c)) return offset(Key::Num0, c - '0');
  }
  if ((text[0] == 'F' || text[0] == 'f') && (text.size() == 2 || text.size() == 3) &&
      std::all_of(text.begin() + 1, text.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
    int number = 0;
    for (const char c : text.substr(1)) number = number * 10 + (c - '0');
    if (number >= 1 && number <= 12) return offset(Key::F1, number - 1);
  }
  for (const auto& [key, name] : kNames)
    if (lower_case(name) == lower_case(text)) return key;
  return std::nullopt;
}

std::string name_of(Key key) {
  if (key <= Key::Z) return std::string(1, static_cast<char>('A' + static_cast<int>(key)));
  if (key <= Key::Num9) return std::string(1, static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(Key::Num0)));
  if (key <= Key::F12) return "F" + std::to_string(1 + static_cast<int>(key) - static_cast<int>(Key::F1));
  for (const auto& [named, name] : kNames)
    if (named == key) return std::string(name);
  return {};
}

}  // namespace

std::optional<Chord> parse_chord(std::string_view text) {
  Chord chord;
  // A modifier ends with '+'; what is left, which may itself be no letter, is the key.
  for (std::size_t plus = text.find('+'); plus != std::string_view::npos && plus + 1 < text.size(); plus = text.find('+')) {
    const std::string modifier = lower_case(text.substr(0, plus));
    bool* flag = modifier == "ctrl" ? &chord.ctrl : modifier == "shift" ? &chord.shift : modifier == "alt" ? &chord.alt : nullptr;
    if (!flag || *flag) return std::nullopt;
    *flag = true;
    text.remove_prefix(plus + 1);
  }
  if (text.empty()) return std::nullopt;
  if (text == "?" && !chord.shift) {
    chord.shift = true;
    text = "/";
  }
  const std::optional<Key> key = parse_key(text);
  if (!key) return std::nullopt;
  chord.key = *key;
  return chord;
}

std::string to_string(const Chord& chord) {
  if (chord.key == Key::Count) return {};
  const bool question = chord.key == Key::Slash && chord.shift;
  return std::string(chord.ctrl ? "Ctrl+" : "") + (chord.alt ? "Alt+" : "") + (chord.shift && !question ? "Shift+" : "") +
         (question ? "?" : name_of(chord.key));
}

std::vector<Chord> parse_chords(std::string_view text) {
  std::vector<Chord> chords;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (const auto chord = parse_chord(text.substr(0, end)))
      if (std::find(chords.begin(), chords.end(), *chord) == chords.end()) chords.push_back(*chord);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return chords;
}

std::string to_string(const std::vector<Chord>& chords) {
  std::string text;
  for (const Chord& chord : chords) text += (text.empty() ? "" : "  ") + to_string(chord);
  return text;
}

}  // namespace heddle::app
