from sparkcast.cli import main

main()
