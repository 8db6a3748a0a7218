// What is wrong with the text of the last frame: labels over each other, labels cut beside empty space, rows of which only a half is seen.
#pragma once

#include <string>
#include <vector>

namespace heddle::test {

/// A sentence for each fault.
std::vector<std::string> label_faults();

}  // namespace heddle::test
