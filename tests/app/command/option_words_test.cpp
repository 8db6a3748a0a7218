// Faults of what was asked, in the words of a command line.
#include "app/command/option_words.h"

#include <catch2/catch.hpp>

using namespace heddle;
using namespace heddle::app;

TEST_CASE("a fault of a part names its option, and only once", "[app]") {
  const Error error{ErrorKind::Input,
                    {{"", "", "unknown op 'x'", "did you mean 'y'?", "demand"},
                     {"k.json", "/body", "expected an array", ""},
                     {"", "", "demand 'd' names group 3, there are groups 0 to 1", "", "groups"},
                     {"", "", "something new", "", "a part without an option"}}};
  const char* const said =
      "--demand unknown op 'x' (did you mean 'y'?)\n"
      "k.json: /body: expected an array\n"
      "demand 'd' names group 3, there are groups 0 to 1 (--groups N allows more)\n"
      "something new";
  CHECK(to_string(in_options(error)) == said);
  CHECK(to_string(in_options(in_options(error))) == said);
}

TEST_CASE("an option stands where the form of its value does, and words around a hint need one", "[app]") {
  const Error error{ErrorKind::Input,
                    {{"", "", "expected VALUE=LAYOUT, found 'a'", "", "form of a layout"},
                     {"", "", "no event is of an op", "which op they stand for", "names of a trace"},
                     {"", "", "no event is of an op", "", "names of a trace"}}};
  CHECK(to_string(in_options(error)) ==
        "expected --layout VALUE=LAYOUT, found 'a'\n"
        "no event is of an op (say with --map which op they stand for)\n"
        "no event is of an op");
}
