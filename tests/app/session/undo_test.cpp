// Undo by old values.
#include "app/session/undo.h"

#include <catch2/catch.hpp>

using heddle::app::UndoStack;

TEST_CASE("undo and redo walk through old values", "[app]") {
  UndoStack<int> stack;
  int now = 1;
  CHECK_FALSE(stack.undo(now));
  CHECK_FALSE(stack.redo(now));
  stack.remember(now, "one to two");
  now = 2;
  stack.remember(now, "two to three");
  now = 3;
  CHECK(*stack.next_undo() == "two to three");
  CHECK(stack.undo(now) == "two to three");
  CHECK(now == 2);
  CHECK(stack.undo(now) == "one to two");
  CHECK(now == 1);
  CHECK(stack.redo(now) == "one to two");
  CHECK(now == 2);
  CHECK(*stack.next_redo() == "two to three");
}

TEST_CASE("a new change forgets what was undone", "[app]") {
  UndoStack<int> stack;
  int now = 1;
  stack.remember(now, "a");
  now = 2;
  stack.undo(now);
  stack.remember(now, "b");
  now = 5;
  CHECK_FALSE(stack.redo(now));
  CHECK(stack.undo(now) == "b");
  CHECK(now == 1);
}

TEST_CASE("the undo stack has an end", "[app]") {
  UndoStack<int> stack;
  int now = 0;
  for (int i = 0; i < 1000; ++i) {
    stack.remember(now, "step");
    now = i + 1;
  }
  int steps = 0;
  while (stack.undo(now)) ++steps;
  CHECK(steps == 200);
  CHECK(now == 800);
}
