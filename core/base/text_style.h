// What plain-text reports have in common: the width and character set of the reader's terminal, safe printing of names
// that came from files, and aligned tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct TextStyle {
  int width = 100;                                         ///< columns of the terminal
  bool utf8 = true;                                        ///< false: ASCII only
  bool color = false;                                      ///< ANSI colours
  std::string (*option)(std::string_view part) = nullptr;  ///< how the program's users say a part of a question; null: by its name
};

/// "--set" on a command line.
std::string said_by(const TextStyle& style, std::string_view part);

/// What separates numbers that belong together: " · ", or " | " in ASCII.
const char* separator(const TextStyle& style);

/// Joins the non-empty parts by the separator.
std::string join_facts(const std::vector<std::string>& parts, const TextStyle& style);

/// Control characters, also those of writing direction, replaced by '?', so that a name in a file cannot steer the terminal. Newlines
/// survive on request.
std::string printable(std::string_view text, bool keep_newlines = false);

/// printable(), and in ASCII the separator is respelled and any other character replaced by '?'.
std::string styled(std::string_view text, const TextStyle& style);

/// "1 query", "2 queries"; without `many` it is `one` with an s.
std::string count_of(std::int64_t count, std::string_view one, std::string_view many = {});

/// Characters on screen, counting one per code point.
int display_width(std::string_view text);

/// The first `width` characters, the last three of them dots when something is left out.
std::string shortened(std::string_view text, int width);

struct TextColumn {
  std::string title;
  bool right = false;  ///< numbers
};

/// A table with a title row, indented by two, two spaces between columns, no trailing spaces. Empty columns are left
/// out. With a `width` the last column goes on in further lines where it would be wider.
std::string text_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows, int width = 0);

/// Words broken into lines of `width`, the first after `first`, the others indented as far; ends with a newline.
std::string wrapped(std::string_view text, const std::string& first, int width);

}  // namespace heddle
