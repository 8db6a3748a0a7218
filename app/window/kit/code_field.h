// A field for a text of many lines: numbered, coloured, with marks at lines and words offered while typing. What is typed is in `text`
// after every frame; undo is the owner's, who hands the text in anew.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/window/kit/theme.h"
#include "core/formats/completion.h"

namespace heddle::app {

/// A part of the text that has a colour of its own.
struct CodePiece {
  std::size_t begin = 0, end = 0;  ///< bytes
  Color color{};
};

/// Something wrong at a line.
struct CodeMark {
  std::size_t line = 0;
  std::string message;
};

struct CodeLook {
  std::span<const CodePiece> pieces;  ///< ascending
  std::span<const CodeMark> marks;
  std::optional<std::pair<std::size_t, std::size_t>> lit{};  ///< lines from, to: of what is selected elsewhere
};

struct CodeField {
  std::string text;
  std::size_t caret = 0;
  bool read_only = false;              ///< the caret moves, the text does not change
  bool active = false;                 ///< it has the keyboard
  bool edited = false, moved = false;  ///< in this frame: the text; only the caret
  std::optional<std::string> next;     ///< a text from elsewhere that takes the place of this one
  std::optional<std::size_t> show;     ///< this line comes into view
  std::optional<std::size_t> jump;     ///< the caret goes to this byte, and the keyboard comes here
  Completions offers;                  ///< set by the owner after every change
  std::size_t chosen = 0;
  bool offering = false;  ///< the list is open

  // Of the last frame, for its own use.
  std::size_t length = 0;
  bool stepped = false, take = false, undo = false, redo = false;
};

/// Draws into what is left of the window, `height` high.
void code_field(const char* name, CodeField& field, const CodeLook& look, float height);

}  // namespace heddle::app
