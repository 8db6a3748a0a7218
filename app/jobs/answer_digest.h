// Which sources decide what an answer is: what was kept by a program made from others is not found any more.
#pragma once

namespace heddle::app {

/// 16 hexadecimal digits, of the rooms of core that make and judge problems, and of the solver (CMakeLists.txt lists them); computed when
/// the program is built.
const char* answer_digest();

}  // namespace heddle::app
