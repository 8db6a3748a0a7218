// What most files include, compiled once where HEDDLE_PCH is on. No file may rely on it: each includes what it uses.
#pragma once
