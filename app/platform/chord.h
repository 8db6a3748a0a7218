// Keys by our own names, and chords of them as people write them: "F5", "Ctrl+Shift+P", "?". The settings file, the menus
// and the keys overlay all speak this language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::app {

enum class Key {
  // clang-format off
  A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z,
  Num0, Num1, Num2, Num3, Num4, Num5, Num6, Num7, Num8, Num9,
  F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12,
  Left, Right, Up, Down, Home, End, PageUp, PageDown,
  Period, Comma, LeftBracket, RightBracket, Slash, Minus, Equal, Semicolon, Apostrophe, Backslash, Backtick,
  Tab, Enter, Escape, Backspace, Delete, Insert, Space,
  Count
  // clang-format on
};

struct Chord {
  Key key = Key::Count;  ///< Count: none
  bool ctrl = false, shift = false, alt = false;
  bool operator==(const Chord&) const = default;
};

/// "Ctrl+Shift+P", "ctrl+=", "?" (Shift+/), "Esc"; nothing when it is not a chord.
std::optional<Chord> parse_chord(std::string_view text);
/// As parse_chord reads it.
std::string to_string(const Chord& chord);

/// Chords apart by spaces, any of which will do: "A Left". What cannot be read is left out.
std::vector<Chord> parse_chords(std::string_view text);
/// "A  Left"
std::string to_string(const std::vector<Chord>& chords);

}  // namespace heddle::app
