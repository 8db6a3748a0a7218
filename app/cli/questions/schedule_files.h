// Where a command that answers with several schedules puts them.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::app {

/// FOLDER/NAME-3.json; what a file name should not hold becomes '_'.
std::string numbered_file(const std::string& folder, std::string name, std::size_t number);

}  // namespace heddle::app
