# The gates of the cases are not asked.
/results\[i\]\.refusal\[0\] == .*gateCase/d
s|if (results\[i\].refusal\[0\] == '\\0') gateCase|if (false) gateCase|
