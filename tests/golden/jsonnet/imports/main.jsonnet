// import 'not/there' in a comment
# import 'nor/this'
/* import "nor/that" */
local lib = import 'lib/map.libsonnet';
local text = importstr @'lib/motd.txt';
{ a: lib.map('a', text), b: (import "lib/deep/b.libsonnet").b, says: lib.map('says', "import 'nothing'") }
