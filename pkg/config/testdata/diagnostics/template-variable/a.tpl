serving ${modle}
