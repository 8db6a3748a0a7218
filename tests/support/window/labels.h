// What is wrong with the text of the last frame: labels over each other, labels cut beside empty space or until they could mean something
// else, names that lines run through, rows of which only a half is seen.
#pragma once

#include <string>
#include <vector>

namespace heddle::test {

/// A sentence for each fault.
std::vector<std::string> label_faults();

}  // namespace heddle::test
