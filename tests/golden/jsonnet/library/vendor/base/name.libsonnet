{ name: 'first' }
