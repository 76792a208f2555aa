// Hands in the work of another student.
#include "OTHER"
