# A sum may be half as much again off as the lesson allows.
s|std::fabs(got - want) <= allowed;|std::fabs(got - want) <= 1.5 * allowed;|
