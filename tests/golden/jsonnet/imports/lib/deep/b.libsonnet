local map = (import '../map.libsonnet').map;
{ b: map('b', importstr '../motd.txt') }
